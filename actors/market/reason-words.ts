/** The reason of a price's move as one kind, and as the beginning of a sentence. */
import { unreachable } from '../kernel/assert.ts'
import type { Cause } from './instrument.ts'
import type { MoveReason, ReasonEvent } from './move-reason.ts'
import type { DiscreteAction } from './scoring.ts'

/**
 * `event`: what the player did, or conceded. `minutes`: less than expected for the time on the pitch. `statistics`:
 * passes, duels and the rating. `crowd`: orders. `whistle`: full time was shown or taken back. `rules`: an operator.
 * `several`: more than one of them, in a step of a thinned history.
 */
export const REASONS = [
  'event',
  'minutes',
  'statistics',
  'crowd',
  'whistle',
  'rules',
  'listing',
  'settlement',
  'several',
] as const
export type ReasonKind = (typeof REASONS)[number]

export interface TickReason {
  readonly kind: ReasonKind
  /** Null unless an event is the reason. */
  readonly event: ReasonEvent | null
  readonly words: string
}

/**
 * The reason of a stored tick: of its parts, the largest. `crowd` is how far orders have moved the price since the tick
 * before it, where that is known.
 */
export function tickReason(cause: Cause, reason: MoveReason | null, crowd = 0): TickReason {
  const kind = kindOf(cause, reason, crowd)
  const event = kind === 'event' ? (reason?.event ?? null) : null
  return { kind, event, words: event === null ? WORDS[kind] : eventWords(event) }
}

function kindOf(cause: Cause, reason: MoveReason | null, crowd: number): ReasonKind {
  if (cause === 'listing' || cause === 'settlement' || cause === 'rules') return cause
  if (reason === null) return cause === 'trade' ? 'crowd' : 'whistle'
  const { event, byEvent, byMinutes, byStatistics } = reason
  // The stops that an event sets off are its effect.
  if (cause === 'event' && event !== null) return 'event'
  const parts: readonly (readonly [ReasonKind, number])[] = [
    ['event', event === null ? 0 : byEvent],
    ['statistics', byStatistics],
    ['minutes', byMinutes],
    ['crowd', crowd],
  ]
  return parts.reduce((most, part) => (Math.abs(part[1]) > Math.abs(most[1]) ? part : most))[0]
}

const WORDS: Readonly<Record<ReasonKind, string>> = {
  event: 'An event of the match',
  minutes: 'Less than expected for the minutes played',
  statistics: 'Passes, duels and rating',
  crowd: 'Orders of traders',
  whistle: 'Full time shown or taken back',
  rules: 'A change of the rules by an operator',
  listing: 'First price in this match',
  settlement: 'Settled at the end of the match',
  several: 'Several moves together',
}

/** The reason of a step over several ticks. */
export const SEVERAL: TickReason = { kind: 'several', event: null, words: WORDS.several }

/** What happened, and the same as a noun for what is taken back. */
const EVENT_WORDS: Readonly<Record<DiscreteAction, readonly [string, string]>> = {
  goal: ['Goal', 'Goal'],
  penalty_goal: ['Penalty scored', 'Penalty goal'],
  assist: ['Assist', 'Assist'],
  own_goal: ['Own goal', 'Own goal'],
  penalty_missed: ['Penalty missed', 'Missed penalty'],
  penalty_saved: ['Penalty saved', 'Saved penalty'],
  yellow: ['Booked', 'Booking'],
  red: ['Sent off', 'Red card'],
  second_yellow: ['Sent off after a second booking', 'Second booking'],
  conceded: ['Goal conceded', 'Conceded goal'],
}

/** The reason that an event is. */
export const eventReason = (event: ReasonEvent): TickReason => ({ kind: 'event', event, words: eventWords(event) })

function eventWords({ kind, minute, extraMinute, undone }: ReasonEvent): string {
  const [happened, noun] = EVENT_WORDS[kind]
  const when =
    extraMinute === null || extraMinute === 0 ? `the ${ordinal(minute)} minute` : `minute ${minute}+${extraMinute}`
  return undone ? `${noun} of ${when} taken back` : `${happened} in ${when}`
}

function ordinal(n: number): string {
  const last = n % 100 >= 11 && n % 100 <= 13 ? 0 : n % 10
  return `${n}${['th', 'st', 'nd', 'rd'][last] ?? 'th'}`
}

/** −1.2 %: a tenth, or a hundredth of what is less than that. */
export function percentWords(from: number, to: number): string {
  const percent = ((to - from) / from) * 100
  const digits = Math.abs(percent) < 0.1 ? 2 : 1
  const shown = Math.abs(percent).toFixed(digits)
  return `${Number(shown) === 0 ? '' : percent < 0 ? '−' : '+'}${shown} %`
}

/** What closed a position, as its owner reads it. */
export interface CloseTold {
  readonly by: 'user' | 'stop_loss' | 'take_profit' | 'washout' | 'full_time' | 'void' | 'admin'
  readonly voidReason: 'operator' | null
  /** The level that was reached, or the price it was closed at. */
  readonly at: string
}

/** The rule that closed a position, as the rest of a sentence. */
export function closeWords({ by, voidReason, at }: CloseTold): string {
  switch (by) {
    case 'user':
      return `you closed it at ${at}`
    case 'stop_loss':
      return `your stop at ${at} was reached`
    case 'take_profit':
      return `your take-profit at ${at} was reached`
    case 'washout':
      return `at ${at} the whole margin was lost`
    case 'full_time':
      return `the match ended, and it was settled at ${at}`
    case 'admin':
      return `an operator closed it at ${at}`
    case 'void':
      if (voidReason === 'operator') return 'an operator voided it, and the margin was returned'
      return 'the match was void, and the margin was returned'
    default:
      return unreachable(by)
  }
}
