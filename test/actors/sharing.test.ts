/** Equal parts of payloads are kept once. */
import { expect, it } from 'vitest'
import { sharing } from '../../actors/replay/sharing.ts'

const PARTS: readonly unknown[] = [
  0,
  '',
  null,
  [],
  {},
  [1],
  [1, 2],
  { a: 1 },
  { a: undefined },
  { b: 1 },
  { a: { b: [1, { c: 2 }] } },
  { a: { b: [1, { c: 3 }] } },
  { a: [] },
  { a: {} },
  { toString: 1 },
  JSON.parse('{"__proto__": {}}'),
]

it('what is shared says the same, whatever came before', () => {
  for (const last of PARTS) {
    for (const next of PARTS) expect(sharing(last, structuredClone(next))).toStrictEqual(next)
  }
})

it('a part that equals the same part of the one before is the same object', () => {
  const last = { same: { deep: [1, { x: 1 }] }, other: { same: [1], y: 1 } }
  const next = sharing(last, { same: { deep: [1, { x: 1 }] }, other: { same: [1], y: 2 } }) as typeof last
  expect(next).not.toBe(last)
  expect(next.same).toBe(last.same)
  expect(next.other.same).toBe(last.other.same)
  expect(sharing(last, structuredClone(last))).toBe(last)
})
