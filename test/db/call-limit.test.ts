import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { CallLimit } from '../../db/postgres/call-limit.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** When a call that waited begins. */
const nextTick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve))

/** Calls that begin when the limit allows and end when the test releases them. */
function stage() {
  const limit = new CallLimit({ together: 2, slowAfterMs: 100, atMost: 4 })
  const begun: string[] = []
  const ends = new Map<string, (outcome: 'done' | 'failed') => void>()
  const call = (name: string): Promise<string> =>
    limit.run(
      () =>
        new Promise((resolve, reject) => {
          begun.push(name)
          ends.set(name, (outcome) => (outcome === 'done' ? resolve(name) : reject(new Error(name))))
        }),
    )
  const ask = (...names: string[]) => names.map((name) => call(name))
  const end = (name: string, outcome: 'done' | 'failed' = 'done') => present(ends.get(name), name)(outcome)
  return { begun, ask, end }
}

it('few calls run together, the others in their order, also when one fails', async () => {
  const { begun, ask, end } = stage()
  const [a, b, c] = ask('a', 'b', 'c', 'd')
  expect(begun).toEqual(['a', 'b'])
  end('b', 'failed')
  await expect(b).rejects.toThrow('b')
  await nextTick()
  expect(begun).toEqual(['a', 'b', 'c'])
  end('a')
  end('c')
  expect(await Promise.all([a, c])).toEqual(['a', 'c'])
  await nextTick()
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
})

it('a slow call gives its slot to the next, and takes no slot back when it ends', async () => {
  const { begun, ask, end } = stage()
  const [a] = ask('a', 'b', 'c', 'd', 'e')
  await vi.advanceTimersByTimeAsync(100)
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
  end('a')
  expect(await a).toBe('a')
  // b is slow, c and d are quick: the two places are taken.
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
  end('c')
  await vi.waitFor(() => expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']), { timeout: 30_000 })
})

it('slow calls never exceed the hard cap', async () => {
  const { begun, ask, end } = stage()
  void ask('a', 'b', 'c', 'd', 'e', 'f')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
  end('c')
  await vi.waitFor(() => expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']), { timeout: 30_000 })
})

it('a call that waited begins after all that the end of the one before it wakes up', async () => {
  const { begun, ask, end } = stage()
  const [a, , c] = ask('a', 'b', 'c')
  const woken: number[] = []
  void a?.then(() => Promise.resolve().then(() => woken.push(begun.length)))
  end('a')
  await vi.waitFor(() => expect(begun).toEqual(['a', 'b', 'c']), { timeout: 30_000 })
  expect(woken).toEqual([2])
  end('c')
  expect(await c).toBe('c')
})
