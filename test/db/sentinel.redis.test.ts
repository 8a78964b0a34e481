/** Redis behind Sentinels: what happens to the fast store and the messages when the master dies or hangs. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Boards } from '../../db/boards.ts'
import { connectBoards } from '../../db/boards-redis.ts'
import { connectRedis } from '../../db/fast/fast-redis.ts'
import type { FastStore } from '../../db/fast/fast-store.ts'
import { RedisPubSub } from '../../db/fast/pub-sub-redis.ts'
import { redisHosts } from '../../db/fast/redis-address.ts'
import { standing } from '../contract/boards.ts'
import { onRedis } from '../support/redis-server.ts'
import { Sentinels } from '../support/sentinels.ts'

async function* oneStanding() {
  yield [standing(1)]
}

const isAway = (): false => false

const PATIENCE = { timeout: 30_000, interval: 50 }

describe('an address of Redis', () => {
  it.each([
    ['redis://cache:6379/1', 'cache:6379'],
    ['rediss://user:hush@cache', 'cache'],
    ['redis+sentinel://a:26379,b:26380/match/0', 'a:26379,b:26380 (Sentinel)'],
    ['rediss+sentinel://user:hu%40sh@a,[::1]:7,[::2]/match?sentinelPassword=x', 'a:26379,::1:7,::2:26379 (Sentinel)'],
    ['redis+cluster://a:6380,b', 'a:6380,b:6379 (Cluster)'],
    ['rediss+cluster://user:hu%40sh@a,[::1]:7', 'a:6379,::1:7 (Cluster)'],
  ])('%s is named without its password', (address, hosts) => {
    expect(redisHosts(address)).toBe(hosts)
  })
})

onRedis(() =>
  describe.each(['SIGKILL', 'SIGSTOP'] as const)('behind Sentinels, %s', (signal) => {
    let sentinels: Sentinels
    let parts: {
      readonly store: FastStore
      readonly boards: Boards
      readonly ours: RedisPubSub
      readonly theirs: RedisPubSub
    }
    const received: string[] = []
    let gaps = 0

    beforeAll(async () => {
      sentinels = await Sentinels.start()
      const { url } = sentinels
      const [store, boards, ours, theirs] = [
        await connectRedis({ url }),
        await connectBoards({ url, installation: 'one', purse: 'main', newId: randomUUID }),
        await RedisPubSub.connect({ url }),
        await RedisPubSub.connect({ url }),
      ]
      parts = { store, boards, ours, theirs }
      ours.onGap(() => gaps++)
      await ours.subscribe('news', (message) => received.push(message.toString()))
    })
    afterAll(async () => {
      await Promise.all([parts.store.close(), parts.boards.close(), parts.ours.close(), parts.theirs.close()])
      await sentinels.stop()
    })

    const works = async (text: string): Promise<void> => {
      const { store, theirs } = parts
      const isDone = (attempt: Promise<unknown>): Promise<boolean> =>
        attempt.then(
          (answer) => answer !== 0,
          () => false,
        )
      await vi.waitUntil(() => isDone(store.set('a', text, 60_000)), PATIENCE)
      expect(await store.get('a')).toBe(text)
      await vi.waitUntil(() => isDone(theirs.send('news', Buffer.from(text))), PATIENCE)
      await expect.poll(() => received).toContain(text)
    }

    it('[Q21][R9] goes on with the replica, and reports that messages and standings may have been missed', async () => {
      await works('before')
      await parts.boards.build(oneStanding(), '')
      expect(await parts.boards.built('')).toBe(true)
      const before = await sentinels.master()
      before.kill(signal)
      await vi.waitUntil(async () => (await sentinels.master()) !== before, PATIENCE)
      await works('after')
      expect(gaps).toBeGreaterThan(0)
      const { boards } = parts
      await vi.waitUntil(() => boards.built('').then((built) => !built, isAway), PATIENCE)
      await vi.waitUntil(() => boards.build(oneStanding(), '').then((count) => count === 1, isAway), PATIENCE)
      expect(await boards.built('')).toBe(true)
      if (signal === 'SIGKILL') return
      // The former master comes back, and is told that it is one no more.
      before.kill('SIGCONT')
      await works('back')
    })
  }),
)
