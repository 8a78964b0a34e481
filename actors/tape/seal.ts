/**
 * What hides the owners on a tape. Every position has a salt and a key, derived from a secret of the match. Its
 * pseudonym is the digest of the key, and its levels are sealed with the key, which the line of its close gives away:
 * then everybody can read them, and nobody can have changed them. The salt stays with the owner, who can prove with it
 * which position is theirs.
 */
import type { Levels } from '../position/position.ts'
import { type Price, price } from '../kernel/micros.ts'

/** Hex digits of a pseudonym: 128 bits. */
export const PSEUDONYM_LENGTH = 32

/** The text whose digest begins with the pseudonym of a position. */
export const pseudonymText = (key: string): string => `pseudonym ${key}`

/** The text whose digest stands for the owner. */
export const ownerText = (salt: string, userId: string, positionId: string): string =>
  `owner ${salt} ${userId} ${positionId}`

/** The text whose digest seals the levels in the line with this number. */
export const padText = (key: string, line: number): string => `levels ${key} ${line}`

/** Hex digits of a sealed level: prices have 53 bits at most. */
const LEVEL_LENGTH = 14
const SEAL_LENGTH = 2 * LEVEL_LENGTH

/** The levels as hex, each digit moved by one of `pad`, which is the digest of `padText`. The same pad opens it. */
export function sealed({ stopLoss, takeProfit }: Levels, pad: string): string {
  return mixed(hexOf(stopLoss) + hexOf(takeProfit), pad)
}

/** Null when no levels were sealed with this pad. */
export function unsealed(seal: string, pad: string): Levels | null {
  const text = mixed(seal, pad)
  const levels = [text.slice(0, LEVEL_LENGTH), text.slice(LEVEL_LENGTH)].map((hex) => Number.parseInt(hex, 16))
  const [stopLoss, takeProfit] = levels
  if (text.length !== SEAL_LENGTH || stopLoss === undefined || takeProfit === undefined) return null
  if (!levels.every((level) => Number.isSafeInteger(level) && level <= LEVEL_MAX)) return null
  return { stopLoss: levelOf(stopLoss), takeProfit: levelOf(takeProfit) }
}

/** The largest price. */
const LEVEL_MAX = 1e15

const hexOf = (level: Price | null): string => (level ?? 0).toString(16).padStart(LEVEL_LENGTH, '0')
/** No level is 0. */
const levelOf = (micros: number): Price | null => (micros === 0 ? null : price(micros))

/** Digits that are combined at once: 28 bits. */
const DIGITS = 7

function mixed(hex: string, pad: string): string {
  let text = ''
  for (let from = 0; from < hex.length; from += DIGITS) {
    const [own, other] = [hex.slice(from, from + DIGITS), pad.slice(from, from + DIGITS)]
    text += (Number.parseInt(own, 16) ^ Number.parseInt(other, 16)).toString(16).padStart(own.length, '0')
  }
  return text
}
