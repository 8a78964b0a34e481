/**
 * The weekly spinner: ISO weeks, the candidates of a draw, and its winner. Two values select the winner together: a
 * seed to which the server committed beforehand, and the results of matches that had not been played then.
 */
import { assert } from '../kernel/assert.ts'
import type { InstrumentId, UserId } from '../kernel/ids.ts'
import { decimalText, type Money, type Price } from '../kernel/micros.ts'

/** The requirements of a draw. Only positions that were opened and closed in its week count. */
export interface DrawTerms {
  readonly closesMin: number
  /** The least number of different players. */
  readonly playersMin: number
  /** The least stake that a return is measured against. */
  readonly roiFloor: Money
  /** Whether accounts that trade by a key take part. Left out: they do not. */
  readonly ranksBots?: boolean
}

/** The candidates in the order in which the draw counts them. */
const drawOrder = (candidates: readonly UserId[]): readonly UserId[] => candidates.toSorted()

/** The base price at which a player settled, in the last live match of the week. */
export interface SettledBase {
  readonly instrumentId: InstrumentId
  readonly base: Price
}

/**
 * The text the seed is applied to: HMAC-SHA256 over it, keyed with the seed, gives the digest for `drawn`. It names the
 * week and all candidates, so neither can be changed later, and the bases at which the week's last live match settled.
 * They follow from the match alone, so knowing the seed before does not reveal the winner.
 */
export const drawText = (week: string, candidates: readonly UserId[], bases: readonly SettledBase[]): string =>
  [
    week,
    ...drawOrder(candidates),
    ...bases.map(({ instrumentId, base }) => `${instrumentId} ${decimalText(base)}`).toSorted(),
  ].join('\n')

/** The winner that a digest (hex) selects. 256 bits over a few candidates favour none of them measurably. */
export function drawn(digest: string, candidates: readonly UserId[]): UserId | null {
  assert(/^[0-9a-f]{64}$/.test(digest), 'a draw takes a SHA-256 digest in hex')
  if (candidates.length === 0) return null
  return drawOrder(candidates)[Number(BigInt(`0x${digest}`) % BigInt(candidates.length))] ?? null
}
