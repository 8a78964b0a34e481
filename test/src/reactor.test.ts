import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Reactor } from '../../src/reactions/reactor.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A reactor with nothing to do, and how often it has looked. */
function idleReactor(isSettling: () => boolean) {
  const looked = vi.fn<() => Promise<null>>(async () => null)
  const reactor = new Reactor({
    outbox: { react: looked },
    reaction: async () => undefined,
    tell: () => undefined,
    report: () => undefined,
    isSettling,
  })
  return { reactor, looked }
}

test('[R16] reactions wait while a match of their process settles, and go on when it has', async () => {
  let isSettling = true
  const { reactor, looked } = idleReactor(() => isSettling)
  reactor.start()
  await vi.advanceTimersByTimeAsync(20_000)
  expect(looked).not.toHaveBeenCalled()
  isSettling = false
  await vi.advanceTimersByTimeAsync(1_000)
  expect(looked).toHaveBeenCalled()
  await reactor.stop()
})

test('[R16] they wait half a minute at most, once for each settlement', async () => {
  let isSettling = true
  const { reactor, looked } = idleReactor(() => isSettling)
  reactor.start()
  await vi.advanceTimersByTimeAsync(29_000)
  expect(looked).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(3_000)
  expect(looked).toHaveBeenCalled()

  isSettling = false
  await vi.advanceTimersByTimeAsync(1_000)
  isSettling = true
  await vi.advanceTimersByTimeAsync(1_000)
  looked.mockClear()
  await vi.advanceTimersByTimeAsync(20_000)
  expect(looked).not.toHaveBeenCalled()
  await reactor.stop()
})

test('[R16] it stops at once while it waits', async () => {
  const { reactor } = idleReactor(() => true)
  reactor.start()
  await vi.advanceTimersByTimeAsync(50)
  await expect(reactor.stop()).resolves.toBeUndefined()
})
