import { afterEach, describe, expect, it, vi } from 'vitest'
import { Pacer } from '../../rooms/sockets/pacer.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** A pacer on a clock that only moves when told to, and a crowd of this many at its door. */
function crowd(size: number) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const pacer = new Pacer({ now: () => Date.now() as ReturnType<ConstructorParameters<typeof Pacer>[0]['now']> })
  const entered: number[] = []
  const refused: number[] = []
  for (let n = 0; n < size; n++) void pacer.turn().then((isIn) => (isIn ? entered : refused).push(n))
  return { pacer, entered, refused }
}

describe('the pacer', () => {
  it('[W22] lets a few in at once, the others a few at a time and in order, until nobody waits', async () => {
    const { pacer, entered } = crowd(1_000)
    await vi.advanceTimersByTimeAsync(0)
    expect(entered).toHaveLength(10)
    await vi.advanceTimersByTimeAsync(10)
    expect(entered).toHaveLength(20)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(entered).toEqual(Array.from({ length: 1_000 }, (_, n) => n))
    expect([pacer.waiting, vi.getTimerCount()]).toEqual([0, 0])
    expect(await pacer.turn()).toBe(true) // and the next one waits for nobody
  })

  it('[W22] waits longer while the event loop is late', async () => {
    const { entered } = crowd(100)
    vi.setSystemTime(Date.now() + 60)
    await vi.advanceTimersByTimeAsync(10)
    expect(entered).toHaveLength(10)
    await vi.advanceTimersByTimeAsync(70)
    expect(entered.length).toBeGreaterThan(10)
  })

  it('[W22] turns away what is more than a process has room for, and lets the others in when it stops', async () => {
    const { pacer, entered, refused } = crowd(20_011)
    await vi.advanceTimersByTimeAsync(0)
    expect(refused).toEqual([20_010])
    pacer.stop()
    await vi.advanceTimersByTimeAsync(0)
    expect(entered).toHaveLength(20_010)
  })
})
