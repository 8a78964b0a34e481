import { expect, it } from 'vitest'
import { chanceFrom } from '../../actors/replay/chance.ts'
import { changed, patched } from '../../actors/replay/json-patch.ts'

const through = (before: unknown, next: unknown): unknown => {
  const patch = changed(before, next)
  return patch === null ? before : patched(before, JSON.parse(JSON.stringify(patch)))
}

it('[J4] a patch gives back the text of a value, whatever it was before', () => {
  const chance = chanceFrom(7)
  const value = (depth: number): unknown => {
    const kind = chance.below(depth === 0 ? 4 : 7)
    if (kind === 0) return null
    if (kind === 1) return chance.below(3)
    if (kind === 2) return chance.below(2) === 0
    if (kind === 3) return 'abc'.slice(chance.below(3))
    const some = Array.from({ length: chance.below(4) }, () => value(depth - 1))
    if (kind === 4) return some
    if (kind === 5) return some.map((one) => ({ id: chance.below(4), one }))
    return Object.fromEntries(some.map((one) => [['id', 'a', '__proto__', '1', 'b'][chance.below(5)], one]))
  }
  for (let n = 0; n < 20_000; n++) {
    const [before, next] = [value(3), value(3)]
    expect(JSON.stringify(through(before, next))).toBe(JSON.stringify(next))
  }
})

it('[J4] equal values need no patch, and rows that changed places are not repeated', () => {
  const rows = (ids: readonly number[]) => ids.map((id) => ({ id, text: 'x'.repeat(100) }))
  expect(changed(rows([1, 2]), rows([1, 2]))).toBeNull()
  expect(changed(rows([1, 2, 3]), rows([3, 1, 2]))).toEqual([2, 2, 0, 1])
  expect(changed(rows([1, 2]), rows([2]))).toEqual([2, 1])
})
