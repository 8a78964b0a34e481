import { describe, expect, it } from 'vitest'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { isAway } from '../../db/faults.ts'
import { fastStoreContract } from '../contract/fast-store.ts'
import { TestWorld } from '../support/test-world.ts'

fastStoreContract('the fast store in memory', async () => {
  const world = new TestWorld()
  const store = new FastMemory(world.steady)
  return { store, other: store, elapse: async (ms) => world.pass(ms), close: () => store.close() }
})

describe('the fast store in memory', () => {
  it('lets dead keys go while it is written to', async () => {
    const world = new TestWorld()
    const store = new FastMemory(world.steady)
    for (let i = 0; i < 1_000; i++) await store.set(`old:${i}`, 'x', 10)
    world.pass(10)
    for (let i = 0; i < 1_000; i++) await store.set('one', 'x', 10)
    expect(store.size).toBe(1)
  })

  it('refuses new keys with a fault when it is full of living ones, and keeps those', async () => {
    const world = new TestWorld()
    const store = new FastMemory(world.steady, 100)
    for (let i = 0; i < 99; i++) await store.claim(`nonce:${i}`, 10_000)
    await store.set('brief', 'x', 5)
    const refusal = await store.claim('one more', 10).catch((error: unknown) => error)
    expect(isAway(refusal)).toBe(true)
    await store.set('brief', 'changed', 5)
    for (let i = 0; i < 99; i++) expect(await store.claim(`nonce:${i}`, 10_000)).toBe(false)

    world.pass(1_000) // 'brief' is dead by now, and makes room for one
    expect(await store.claim('one more', 10_000)).toBe(true)
    await expect(store.claim('two more', 10)).rejects.toThrow('holds 100 keys')
  })
})
