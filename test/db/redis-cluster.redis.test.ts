/** Redis as a cluster: the contracts of what uses it, and what happens when a master dies or hangs. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { connectBoards } from '../../db/boards-redis.ts'
import { isAway } from '../../db/faults.ts'
import { connectRedis } from '../../db/fast/fast-redis.ts'
import type { FastStore } from '../../db/fast/fast-store.ts'
import { ClusterPubSub } from '../../db/fast/pub-sub-cluster.ts'
import { connectPubSub } from '../../db/fast/pub-sub.ts'
import { boardsContract } from '../contract/boards.ts'
import { fastStoreContract, openedOn } from '../contract/fast-store.ts'
import { pubSubContract } from '../contract/pub-sub.ts'
import { RedisNodes } from '../support/redis-cluster.ts'
import { onRedis } from '../support/redis-server.ts'

const PATIENCE = { timeout: 30_000, interval: 50 }

onRedis(() => {
  let nodes: RedisNodes
  beforeAll(async () => {
    nodes = await RedisNodes.start()
  })
  afterAll(() => nodes.stop())

  fastStoreContract('the fast store on a cluster', async () => {
    const plain = await nodes.client()
    return openedOn({ url: nodes.url, prefix: `${randomUUID()}:` }, plain, () => plain.disconnect())
  })

  describe('boards on a cluster', () =>
    boardsContract(() =>
      connectBoards({ url: nodes.url, installation: randomUUID(), purse: 'main', newId: randomUUID }),
    ))

  pubSubContract(async () => {
    const options = { url: nodes.url, prefix: `${randomUUID()}:` }
    const ends = [await connectPubSub(options), await connectPubSub(options)] as const
    return { ends, close: async () => void (await Promise.all(ends.map((end) => end.close()))) }
  })

  it('readiness writes to every master', async () => {
    const store = await connectRedis({ url: nodes.url })
    const plain = await nodes.client()
    onTestFinished(async () => {
      plain.disconnect()
      await store.close()
    })
    await store.probe()
    for (const master of plain.nodes('master')) await master.config('SET', 'maxmemory', '1')
    const [last] = plain.nodes('master').slice(-1)
    for (const master of plain.nodes('master').slice(0, -1)) await master.config('SET', 'maxmemory', '0')
    expect(isAway(await store.probe().catch((error: unknown) => error))).toBe(true)
    await last?.config('SET', 'maxmemory', '0')
    await store.probe()
  })
})

it('a cluster that cannot be reached is a fault at once, not a wait', async () => {
  const refusal = await connectRedis({ url: 'redis+cluster://127.0.0.1:1,127.0.0.1:2' }).catch((e: unknown) => e)
  expect(isAway(refusal)).toBe(true)
})

const KEYS = Array.from({ length: 30 }, (_, n) => `key ${n}`)
/** Enough to have some on every master. */
const CHANNELS = Array.from({ length: 12 }, (_, n) => `news ${n}`)

onRedis(() =>
  describe.each(['SIGKILL', 'SIGSTOP'] as const)('a master ends by %s', (signal) => {
    let nodes: RedisNodes
    let parts: { readonly store: FastStore; readonly ours: ClusterPubSub; readonly theirs: ClusterPubSub }
    const received = new Set<string>()
    let gaps = 0

    beforeAll(async () => {
      nodes = await RedisNodes.start()
      const { url } = nodes
      const [store, ours, theirs] = [
        await connectRedis({ url }),
        await ClusterPubSub.connect({ url }),
        await ClusterPubSub.connect({ url }),
      ]
      parts = { store, ours, theirs }
      ours.onGap(() => gaps++)
      for (const channel of CHANNELS)
        await ours.subscribe(channel, (message) => received.add(`${channel}: ${message.toString()}`))
    })
    afterAll(async () => {
      await Promise.all([parts.store.close(), parts.ours.close(), parts.theirs.close()])
      await nodes.stop()
    })

    /** Every key can be written, and every channel delivers. A channel that is not served is never taken for empty. */
    const works = async (text: string): Promise<void> => {
      const { store, theirs } = parts
      for (const key of KEYS) await vi.waitUntil(() => succeeds(store.set(key, text, 60_000)), PATIENCE)
      expect(await Promise.all(KEYS.map((key) => store.get(key)))).toEqual(KEYS.map(() => text))
      for (const channel of CHANNELS) {
        await vi.waitUntil(async () => {
          const reached = await theirs.send(channel, Buffer.from(text)).catch(() => 'unknown')
          expect(reached, channel).not.toBe(0)
          return reached !== 'unknown'
        }, PATIENCE)
      }
      await expect.poll(() => CHANNELS.filter((channel) => !received.has(`${channel}: ${text}`))).toEqual([])
    }

    it('[Q22] goes on with its replica, and reports that messages may have been missed', async () => {
      await works('before')
      expect(gaps).toBe(0)
      const master = await nodes.masterOf(KEYS[0] ?? '')
      master.kill(signal)
      await works('after')
      await vi.waitUntil(() => gaps > 0, PATIENCE)
      await parts.store.probe()
      if (signal === 'SIGKILL') return
      // The former master comes back, and is told that it is one no more.
      master.kill('SIGCONT')
      await vi.waitUntil(() => nodes.isReplica(master), PATIENCE)
      await works('back')
    })
  }),
)

const succeeds = (attempt: Promise<unknown>): Promise<boolean> =>
  attempt.then(
    () => true,
    () => false,
  )
