/** Colours of teams: the same for a name each time, told apart in a match, and legible. */
import { expect, it } from 'vitest'
import { kitOf, kitsOf } from '../../src/web/kits.ts'

const names = Array.from({ length: 400 }, (_, n) => `Town ${n}`)
const part = (hex: string, at: number): number => {
  const value = Number.parseInt(hex.slice(1 + 2 * at, 3 + 2 * at), 16) / 255
  return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
}
/** Relative luminance, as WCAG has it. */
const luminance = (hex: string): number => 0.2126 * part(hex, 0) + 0.7152 * part(hex, 1) + 0.0722 * part(hex, 2)

it('a name has one kit, and names have many', () => {
  expect(kitOf('Port Ellery')).toEqual(kitOf('Port Ellery'))
  expect(new Set(names.map((name) => JSON.stringify(kitOf(name)))).size).toBeGreaterThan(150)
})

it('two teams of a match never wear the same, and white figures are legible on both', () => {
  const home = 'Port Ellery'
  const rivals = names.map((name) => kitsOf(home, name))
  expect(
    rivals.some(({ away }, n) => away.main !== kitOf(names[n] ?? '').main),
    'one of them had to change',
  ).toBe(true)
  for (const kits of rivals) {
    expect(kits.home.main).not.toBe(kits.away.main)
    for (const { main } of [kits.home, kits.away]) expect(1.05 / (luminance(main) + 0.05)).toBeGreaterThanOrEqual(4.5)
  }
})
