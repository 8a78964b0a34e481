import { expect, it } from 'vitest'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { Turns } from '../../rooms/match/turns.ts'

const [CROWDED, QUIET] = [fixtureId(1), fixtureId(2)]
const turn = () => new Promise(setImmediate)

it('[A16] passes few at once, and those of a crowd some in each turn of the event loop, in order', async () => {
  const turns = new Turns()
  const passed: number[] = []
  const all = Array.from({ length: 100 }, (_, n) => turns.next(CROWDED).then(() => passed.push(n)))
  await Promise.resolve()
  const first = passed.length
  expect(first).toBeGreaterThan(0)
  expect(first).toBeLessThan(20)
  await turn()
  expect(passed.length - first).toBeLessThan(20)
  await Promise.all(all)
  expect(passed).toEqual(Array.from({ length: 100 }, (_, n) => n))
})

it('[A16] an order on another match than the crowd waits for a turn or two, whatever its length', async () => {
  const turns = new Turns()
  let passed = 0
  for (let n = 0; n < 1_000; n++) void turns.next(CROWDED).then(() => passed++)
  for (let n = 0; n < 5; n++) {
    let isThrough = false
    const before = passed
    void turns.next(QUIET).then(() => (isThrough = true))
    while (!isThrough) await turn()
    expect(passed - before).toBeLessThan(40)
  }
})

it('[A16] the line of a match has a limit', () => {
  const turns = new Turns()
  for (let n = 0; n < 5_000 && turns.hasRoom(CROWDED); n++) void turns.next(CROWDED)
  expect([turns.hasRoom(CROWDED), turns.hasRoom(QUIET)]).toEqual([false, true])
})
