/** What is new of the players of a match, and how their followers are told. */
import { SIDES } from '../../../actors/market/fixture.ts'
import type { InstrumentId, PlayerId, UserId } from '../../../actors/kernel/ids.ts'
import {
  boolean,
  fieldsOf,
  integer,
  listOf,
  nullable,
  oneOf,
  type Reader,
  recordOf,
  text,
} from '../../../actors/kernel/read.ts'
import { type Instant, MINUTE_MS } from '../../../actors/kernel/world.ts'
import type { Notice } from '../../../actors/community/notices.ts'
import type { ReportedEvent } from '../../../actors/market/match-report.ts'
import type { MatchInfo } from '../../../actors/match/messages.ts'

/** What followers can be told of, each a switch. */
export const KINDS = ['lineup', 'kickoff', 'goal', 'card', 'pitch'] as const
export type Kind = (typeof KINDS)[number]

/** The most important first: of several, a notice names it. */
const WHATS = ['goal', 'own_goal', 'red', 'yellow', 'on', 'off', 'starts', 'benched', 'named', 'spare'] as const
type What = (typeof WHATS)[number]

const KIND_OF: Readonly<Record<What, Kind>> = {
  goal: 'goal',
  own_goal: 'goal',
  red: 'card',
  yellow: 'card',
  on: 'pitch',
  off: 'pitch',
  starts: 'kickoff',
  benched: 'kickoff',
  named: 'lineup',
  spare: 'lineup',
}

export interface PlayerNews {
  readonly instrumentId: string
  readonly player: string
  readonly what: What
  readonly minute: number | null
}

/** What is told together. */
export interface MatchNews {
  /** `Harbour 2–1 Hill`. */
  readonly match: string
  readonly items: readonly PlayerNews[]
  /** The match has just begun. */
  readonly isKickOff: boolean
}

/**
 * How often each player has done what, by `what:player`; `kickoff` is when the match began, once it has. `named:player`
 * is 1 for a starter and 0 for a substitute once both line-ups are known.
 */
export type Seen = Readonly<Record<string, number>>

/** A match that has begun longer ago is not announced. */
const KICK_OFF_MS = 3 * MINUTE_MS
/** The `kickoff` of a match that began before its time was kept. */
const UNTIMED = 1
/** Added to what a player is named as once that has changed: another change is not told. */
const CHANGED = 2
/** Starters of each team. With fewer a line-up is not complete. */
const STARTERS = 11

/**
 * What has happened since, and what is seen from now on. Without a `seen` nothing is news but a kick-off. A row that
 * was taken back counts on, so the next goal of its scorer is another.
 */ // R29
export function newsOf(match: MatchInfo, before: Seen | null, now: Instant): { news: MatchNews; seen: Seen } {
  const { kickedOffAt } = match
  const begun = before?.['kickoff']
  const isSamePlaying = begun === undefined || begun === kickedOffAt || (begun === UNTIMED && kickedOffAt !== null)
  // The fixture has come back: what was seen is of a playing that was void.
  const seen = isSamePlaying ? before : {}
  const players = new Map(match.squad.map((player) => [player.playerId, player]))
  const counts: Record<string, number> = {}
  const items: PlayerNews[] = []
  const add = (what: What, id: PlayerId, minute: number | null): void => {
    const player = players.get(id)
    if (player !== undefined) items.push({ instrumentId: player.instrumentId, player: player.name, what, minute })
  }
  for (const { what, player, event } of match.events.flatMap(partsOf)) {
    const key = `${what}:${player}`
    counts[key] = (counts[key] ?? 0) + 1
    if (seen !== null && !event.retracted && counts[key] > (seen[key] ?? 0)) add(what, player, event.minute)
  }
  const isKickOff = kickedOffAt !== null && now - kickedOffAt < KICK_OFF_MS && seen?.['kickoff'] === undefined
  if (isKickOff) {
    for (const { playerId } of match.squad) add(isOn(match, playerId) ? 'starts' : 'benched', playerId, null)
  }
  const named: Record<string, number> = {}
  for (const { playerId, starter } of kickedOffAt === null && areNamed(match) ? match.squad : []) {
    const key = `named:${playerId}`
    const [was, is] = [seen?.[key], Number(starter)]
    const isChanged = was === 1 - is
    named[key] = isChanged ? is + CHANGED : (was ?? is)
    // A user who follows a player after the line-ups are known can see them.
    if (seen !== null && (was === undefined || isChanged)) add(starter ? 'named' : 'spare', playerId, null)
  }
  const kept = Object.entries(seen ?? {}).filter(([key, n]) => key.startsWith('named:') || n > (counts[key] ?? 0))
  return {
    news: { match: scoreOf(match), items, isKickOff },
    seen: {
      ...counts,
      ...Object.fromEntries(kept),
      ...named,
      ...(kickedOffAt === null ? {} : { kickoff: kickedOffAt }),
    },
  }
}

const areNamed = ({ squad }: MatchInfo): boolean =>
  SIDES.every((side) => squad.filter((player) => player.side === side && player.starter).length >= STARTERS)

const isOn = ({ onPitch, squad }: MatchInfo, id: PlayerId): boolean =>
  onPitch === null ? squad.some(({ playerId, starter }) => playerId === id && starter) : onPitch.includes(id)

function scoreOf({ home, away }: MatchInfo): string {
  return home.goals === null || away.goals === null
    ? `${home.name} – ${away.name}`
    : `${home.name} ${home.goals}–${away.goals} ${away.name}`
}

const WHAT_OF: Partial<Readonly<Record<ReportedEvent['kind'], What>>> = {
  goal: 'goal',
  penalty_goal: 'goal',
  own_goal: 'own_goal',
  yellow: 'yellow',
  red: 'red',
  second_yellow: 'red',
  substitution: 'on',
}

function partsOf(event: ReportedEvent): { what: What; player: PlayerId; event: ReportedEvent }[] {
  const what = WHAT_OF[event.kind]
  const { playerId, relatedPlayerId } = event
  const isChange = event.kind === 'substitution'
  return [
    ...(what === undefined || playerId === null ? [] : [{ what, player: playerId, event }]),
    ...(isChange && relatedPlayerId !== null ? [{ what: 'off' as const, player: relatedPlayerId, event }] : []),
  ]
}

const TITLES: Readonly<Record<What, string>> = {
  goal: 'Goal: {player}',
  own_goal: 'Own goal: {player}',
  red: 'Sent off: {player}',
  yellow: 'Yellow card: {player}',
  on: 'Comes on: {player}',
  off: 'Goes off: {player}',
  starts: 'Kick-off: {player} starts',
  benched: 'Kick-off: {player} is on the bench',
  named: 'Line-up: {player} starts',
  spare: 'Line-up: {player} is on the bench',
}

export interface Follower {
  readonly userId: UserId
  readonly instruments: readonly string[]
  /** What the user wants to be told of. */
  readonly kinds: readonly Kind[]
  /** Whether they want to be told of the kick-off of the match. */
  readonly isReminded: boolean
}

/** One notice for all that a follower wants of it; null without any. */
export function noticeOf(
  { match, items, isKickOff }: MatchNews,
  { userId, instruments, kinds, isReminded }: Follower,
  { matchId, id, at }: { readonly matchId: number; readonly id: number; readonly at: Instant },
): Notice | null {
  const [first, ...others] = items
    .filter(({ instrumentId, what }) => instruments.includes(instrumentId) && kinds.includes(KIND_OF[what]))
    .toSorted((a, b) => WHATS.indexOf(a.what) - WHATS.indexOf(b.what))
  const source = `player:${id}:${userId}`
  if (first === undefined) {
    if (!isKickOff || !isReminded) return null
    return {
      userId,
      type: 'player_news',
      title: `Kick-off: ${match}`,
      body: 'The match that you wanted to be reminded of has begun.',
      data: { what: 'match', matchId, match },
      source,
      at,
    }
  }
  const { what, player, instrumentId, minute } = first
  const rest = new Set(others.map((one) => one.instrumentId)).difference(new Set([instrumentId])).size
  const more = rest === 0 ? '' : ` News of ${rest} more of your players.`
  return {
    userId,
    type: 'player_news',
    title: TITLES[what].replace('{player}', () => player),
    body: `${match}${minute === null ? '' : `, ${minute}′`}.${more}`,
    data: { what, player, instrumentId, matchId, match, others: rest, ...(minute === null ? {} : { minute }) },
    source,
    at,
  }
}

export function priceNotice(
  reached: {
    readonly id: string
    readonly userId: UserId
    readonly instrumentId: InstrumentId
    readonly player: string
    readonly level: number
    readonly price: number
    readonly isAbove: boolean
  },
  at: Instant,
): Notice {
  const { id, userId, instrumentId, player, level, price, isAbove } = reached
  return {
    userId,
    type: 'price_reached',
    title: `${player} at ${price.toFixed(2)}`,
    body: `The price has ${isAbove ? 'risen' : 'fallen'} to your alert at ${level.toFixed(2)}.`,
    data: { instrumentId, player, level, price, direction: isAbove ? 'above' : 'below' },
    source: `alert:${id}`,
    at,
  }
}

const readItem: Reader<PlayerNews> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    instrumentId: field('instrumentId', text),
    player: field('player', text),
    what: field('what', oneOf(WHATS)),
    minute: field('minute', nullable(integer)),
  }
}

export const readNews: Reader<MatchNews> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    match: field('match', text),
    items: field('items', listOf(readItem)),
    isKickOff: field('isKickOff', boolean),
  }
}

export const readSeen: Reader<Seen> = recordOf(integer)
