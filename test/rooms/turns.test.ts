import { expect, it } from 'vitest'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { Turns } from '../../rooms/match/turns.ts'

const [CROWDED, QUIET] = [fixtureId(1), fixtureId(2)]
const turn = () => new Promise(setImmediate)

it('[A16] passes some in each turn of the event loop, in order', async () => {
  const turns = new Turns()
  const passed: number[] = []
  const all = Array.from({ length: 500 }, (_, n) => turns.next(CROWDED).then(() => passed.push(n)))
  await Promise.resolve()
  const first = passed.length
  expect(first).toBeGreaterThan(0)
  expect(first).toBeLessThan(100)
  await turn()
  expect(passed.length - first).toBeLessThan(100)
  await Promise.all(all)
  expect(passed).toEqual(Array.from({ length: 500 }, (_, n) => n))
})

it('[A16] an order on another match than the crowd waits for a turn or two, whatever its length', async () => {
  const turns = new Turns()
  let passed = 0
  for (let n = 0; n < 2_000; n++) void turns.next(CROWDED).then(() => passed++)
  const behind: number[] = []
  for (let n = 0; n < 20; n++) {
    let isThrough = false
    const before = passed
    void turns.next(QUIET).then(() => (isThrough = true))
    while (!isThrough) await turn()
    behind.push(passed - before)
  }
  // The first meets turns that are still large.
  expect(behind[0]).toBeLessThan(100)
  for (const others of behind.slice(1)) expect(others).toBeLessThan(20)
})

it('[A16] matches that are about as full share large turns', async () => {
  const turns = new Turns()
  let passed = 0
  for (let n = 0; n < 200; n++) void turns.next(fixtureId(1 + (n % 8))).then(() => passed++)
  await turn()
  const before = passed
  await turn()
  expect(passed - before).toBeGreaterThan(20)
})

it('[A16] the line of a match has a limit', () => {
  const turns = new Turns()
  for (let n = 0; n < 5_000 && turns.hasRoom(CROWDED); n++) void turns.next(CROWDED)
  expect([turns.hasRoom(CROWDED), turns.hasRoom(QUIET)]).toEqual([false, true])
})
