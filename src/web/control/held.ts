/** The open positions that an act concerns, in words. */
import { units } from '../format.ts'
import { plural } from '../words.ts'
import type { Risk, UserFile } from './answers.ts'

export const COUNT = { one: '{n} open position', other: '{n} open positions' }

/** The open positions of a key's scope, in words. */
export function heldWords(exposures: Risk['exposures'], name: string): string {
  const sum = (of: (one: Risk['exposures'][number]) => number): number =>
    exposures.reduce((all, one) => all + of(one), 0)
  return `${name}: ${plural(
    sum((one) => one.positions),
    COUNT,
  )} with ${units(sum((one) => one.margin))} units of margin in the main purse.`
}

/** How many positions of each purse the server lists, and purses. More may be open than are listed. */
const LISTED = { positions: 50, purses: 12 }

/** The open positions that a user keeps, in words. */
export function keptWords(purses: UserFile['purses']): string {
  const open = purses.flatMap(({ positions }) => positions.filter(({ status }) => status === 'open')).length
  const isCut = purses.length >= LISTED.purses || purses.some(({ positions }) => positions.length >= LISTED.positions)
  return `They keep ${isCut ? 'at least ' : ''}${plural(open, COUNT)}.`
}
