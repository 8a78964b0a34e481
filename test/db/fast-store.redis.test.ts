import { setImmediate as nextTurn } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { expect, it, onTestFinished, vi } from 'vitest'
import { connectRedis } from '../../db/fast/fast-redis.ts'
import { isAway } from '../../db/faults.ts'
import { Relay } from '../../ops/rehearse/chaos/relay.ts'
import { fastStoreContract, type OpenedFastStore, openedOn } from '../contract/fast-store.ts'
import { onRedis, type RedisServer } from '../support/redis-server.ts'

onRedis((server) => {
  fastStoreContract('the fast store on Redis', () => openRedis(server))
  onAClockPutBack(server)
  throughARelay(server)
})

it('a server that cannot be reached is a fault at once, not a wait', async () => {
  const error = await connectRedis({ url: 'redis://127.0.0.1:1' }).catch((e: unknown) => e)
  expect(isAway(error)).toBe(true)
})

/** A store under its own key prefix, which is emptied at the end. */
async function openRedis(server: RedisServer): Promise<OpenedFastStore> {
  const [url, prefix, plain] = [server.url, server.newPrefix(), new Redis(server.url)]
  return openedOn({ url, prefix }, plain, async () => {
    for await (const found of plain.scanStream({ match: `${prefix}*`, count: 1_000 }) as AsyncIterable<string[]>) {
      if (found.length > 0) await plain.unlink(found)
    }
    await plain.quit()
  })
}

function onAClockPutBack(server: RedisServer): void {
  it('[X15] a window or allowance begun by a clock that was put back since is begun again', async () => {
    const [prefix, plain] = [server.newPrefix(), new Redis(server.url)]
    const store = await connectRedis({ url: server.url, prefix })
    onTestFinished(async () => {
      await plain.unlink(`${prefix}rate`, `${prefix}calls`)
      await Promise.all([store.close(), plain.quit()])
    })
    await store.hit('rate', 60_000)
    await plain.pexpire(`${prefix}rate`, 86_400_000)
    expect(await store.hit('rate', 60_000)).toEqual({ count: 1, endsInMs: 60_000 })
    const one = { calls: 1, windowMs: 60_000 }
    await store.spend('calls', one)
    const [later = ''] = await plain.lrange(`${prefix}calls`, 0, 0)
    await plain.lset(`${prefix}calls`, 0, String(Number(later) + 86_400_000))
    expect(await store.spend('calls', one)).toMatchObject({ allowed: true, left: 0 })
    expect(await store.spend('calls', one)).toMatchObject({ allowed: false })
  })
}

function throughARelay(server: RedisServer): void {
  const relayed = async () => {
    const relay = await Relay.to(server.url)
    onTestFinished(() => relay.close())
    const store = await connectRedis({ url: relay.url, prefix: server.newPrefix() })
    onTestFinished(() => store.close())
    return { relay, store }
  }

  it('throws at once while the server is unavailable, and reconnects automatically', async () => {
    const { relay, store } = await relayed()
    await store.set('a', 'before', 60_000)
    expect(store.connected).toBe(true)

    relay.cut()
    await vi.waitUntil(() => !store.connected, { timeout: 30_000 })
    const error = await Promise.race([store.get('a').catch((e: unknown) => e), turns(20)])
    expect(isAway(error), `after 20 turns: ${String(error)}`).toBe(true)

    relay.mend()
    await vi.waitUntil(() => store.connected, { timeout: 10_000 })
    expect(await store.take('a')).toBe('before')
  })

  it('gives up a connection that is silent for ever, and makes another', async () => {
    const { relay, store } = await relayed()
    relay.swallow()
    await expect(store.get('a')).rejects.toThrow()
    await expect.poll(() => store.get('a').catch(() => 'failed'), { timeout: 10_000 }).toBeNull()
  })

  it('gives up on a server that takes a command and never answers', async () => {
    const { relay, store } = await relayed()
    onTestFinished(() => relay.cut())
    relay.silence()
    const error = await store.get('a').catch((e: unknown) => e)
    expect(isAway(error)).toBe(true)
  })
}

/** Waits this many turns of the event loop; a call that has not answered by then is waiting for something. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await nextTurn()
}
