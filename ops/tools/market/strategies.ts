/** The battery: what people and scripts try in a market of footballers, each as a strategy with a name. */
import type { InstrumentId, PlayerId } from '../../../actors/kernel/ids.ts'
import { MICROS_PER_UNIT, type Price, price } from '../../../actors/kernel/micros.ts'
import { instant, SECOND_MS } from '../../../actors/kernel/world.ts'
import type { FixtureEvent, FixtureSnapshot } from '../../../actors/market/fixture.ts'
import type { Instrument } from '../../../actors/market/instrument.ts'
import { chanceFrom } from '../../../actors/replay/chance.ts'
import type { Direction } from '../../../actors/position/position.ts'
import type { Floor, Foresight, Order, Strategy } from './play.ts'
import { annulments, type Happening, happenings, isBooking, isGoal, isSendingOff, other } from './plot.ts'

const opposite = (direction: Direction): Direction => (direction === 'long' ? 'short' : 'long')

/** The first update in play. */
const isKickOff = ({ snapshot, before }: Pick<Floor, 'snapshot' | 'before'>): boolean =>
  snapshot.periods.length > 0 && (before === null || before.periods.length === 0)

/** Starters in the order of `by`, the greatest first. */
function starters(floor: Floor, by: (instrument: Instrument) => number): readonly Instrument[] {
  return [...floor.view.instruments()].filter((i) => i.starter).toSorted((a, b) => by(b) - by(a))
}

type Hands = Pick<Floor, 'open'>

interface Bet {
  readonly direction: Direction
  readonly at: Order['at']
  /** Null until full time, 0 until it may be closed. */
  readonly heldForMs?: number | null
}

const bet = (hands: Hands, instrumentId: InstrumentId, { direction, at, heldForMs = 0 }: Bet): void =>
  hands.open({ instrumentId, direction, at, heldForMs })

/** Bets at kick-off on what `pick` chooses, until full time. */
const fromKickOff = (
  name: string,
  pick: (floor: Floor) => readonly (readonly [Instrument, Direction])[],
): Strategy => ({
  name,
  knows: 'public',
  onUpdate(floor) {
    if (!isKickOff(floor)) return
    for (const [{ id }, direction] of pick(floor)) {
      bet(floor, id, { direction, at: instant(floor.now + SECOND_MS), heldForMs: null })
    }
  },
})

/** Bets some time after the feed has shown an event, and leaves as soon as the hold ends. */
const afterEvent = (
  name: string,
  secs: number,
  wanted: (event: FixtureEvent) => boolean,
  bets: (event: FixtureEvent) => readonly (readonly [PlayerId | null, Direction])[],
): Strategy => {
  let shown: readonly Happening[] = []
  return {
    name: `${name} +${secs} s`,
    knows: 'public',
    prepare: ({ snapshots }) => {
      shown = happenings(snapshots).filter(({ event }) => wanted(event))
    },
    onUpdate(floor) {
      for (const { event } of shown.filter(({ index }) => index === floor.index)) {
        for (const [player, direction] of bets(event)) {
          const instrument = floor.instrumentOf(player)
          if (instrument === undefined) continue
          bet(floor, instrument.id, { direction, at: instant(floor.now + secs * SECOND_MS) })
        }
      }
    },
  }
}

const scorer = (event: FixtureEvent) => [[event.playerId, 'long']] as const
const assist = (event: FixtureEvent) => [[event.relatedPlayerId, 'long']] as const
const offender = (event: FixtureEvent) => [[event.playerId, 'short']] as const

/** Follows every move of at least a tenth of a per cent, or bets on its return. */
const moves = (name: string, along: boolean): Strategy => ({
  name,
  knows: 'public',
  onUpdate(floor) {
    for (const { id } of floor.view.instruments()) {
      const [before, now] = [floor.pricesBefore.get(id), floor.priceOf(id)]
      if (before === undefined || Math.abs(now - before) < before / 1_000) continue
      const up: Direction = now > before ? 'long' : 'short'
      bet(floor, id, { direction: along ? up : opposite(up), at: instant(floor.now + SECOND_MS) })
    }
  },
})

/** Long the three best and short the three worst last moves at half time. */
const halfTime: Strategy = {
  name: 'half time, last moves',
  knows: 'public',
  onUpdate(floor) {
    if (floor.snapshot.state !== 'HT' || floor.before?.state === 'HT') return
    const moved = [...floor.view.instruments()]
      .map(({ id }) => ({ id, by: floor.priceOf(id) / (floor.pricesBefore.get(id) ?? floor.priceOf(id)) }))
      .toSorted((a, b) => b.by - a.by)
    const at = instant(floor.now + SECOND_MS)
    for (const { id } of moved.slice(0, 3)) bet(floor, id, { direction: 'long', at, heldForMs: 180 * SECOND_MS })
    for (const { id } of moved.slice(-3)) bet(floor, id, { direction: 'short', at, heldForMs: 180 * SECOND_MS })
  },
}

const moveSinceStart = ({ base, start }: Instrument): number => base / start

/** Bets at a minute of the match clock on the five whose price has fallen most since kick-off. */
const losersAt = (minute: number, direction: Direction): Strategy => ({
  name: `${direction} five losers at ${minute}'`,
  knows: 'public',
  onUpdate(floor) {
    if (!reaches(floor, minute)) return
    for (const { id } of starters(floor, moveSinceStart).slice(-5)) {
      bet(floor, id, { direction, at: instant(floor.now + SECOND_MS), heldForMs: null })
    }
  },
})

const secsPlayed = (snapshot: FixtureSnapshot | null): number =>
  (snapshot?.periods ?? []).reduce((sum, p) => sum + p.elapsedSecs, 0)

const reaches = ({ snapshot, before }: Floor, minute: number): boolean =>
  secsPlayed(snapshot) >= minute * 60 && secsPlayed(before) < minute * 60

/** Shorts every starter in the last minute: what the whistle moves from a one-sided book. */
const lastMinute: Strategy = {
  name: 'last-minute shorts',
  knows: 'public',
  onUpdate(floor) {
    if (!reaches(floor, 89)) return
    for (const { id } of starters(floor, () => 0)) {
      bet(floor, id, { direction: 'short', at: instant(floor.now + SECOND_MS), heldForMs: null })
    }
  },
}

/** Opens anything at any time for three minutes: an honest user, by whom the cost of the rules is measured. */
const HONEST = 'honest'
const honest = (seed: number): Strategy => {
  const chance = chanceFrom(seed)
  return {
    name: HONEST,
    knows: 'public',
    onUpdate(floor) {
      if (!chance.happens(0.5)) return
      const picked = chance.pick([...floor.view.instruments()], (i) => (i.starter ? 1 : 0.1))
      if (picked === null) return
      const at = instant(floor.now + chance.below(10) * SECOND_MS)
      const direction = chance.happens(0.5) ? 'long' : 'short'
      bet(floor, picked.id, { direction, at, heldForMs: chance.below(300) * SECOND_MS })
    },
  }
}

/** Whom an event moves, and which way. */
function movedBy(event: FixtureEvent, snapshot: FixtureSnapshot): readonly (readonly [PlayerId, Direction])[] {
  const { playerId, relatedPlayerId, kind } = event
  if (playerId === null) return []
  if (isBooking(event) || isSendingOff(event) || kind === 'own_goal') return [[playerId, 'short']]
  if (!isGoal(event)) return []
  const side = snapshot.players.find((p) => p.playerId === playerId)?.side
  const conceding = snapshot.players.filter(
    (p) => side !== undefined && p.side === other(side) && p.starter && (p.role === 'GK' || p.role === 'DEF'),
  )
  return [
    [playerId, 'long'],
    ...(relatedPlayerId === null || kind !== 'goal' ? [] : [[relatedPlayerId, 'long'] as const]),
    ...conceding.map((p) => [p.playerId, 'short'] as const),
  ]
}

interface Seen {
  readonly at: Order['at']
  readonly instrumentId: InstrumentId
  readonly direction: Direction
}

/** What a trader `lead` seconds ahead of the feed sees: each event with the players it moves, and annulled goals. */
function ahead({ snapshots, atOf }: Foresight, lead: number): readonly Seen[] {
  const first = happenings(snapshots).map((h) => ({ ...h, reversed: false }))
  const back = annulments(snapshots).map((h) => ({ ...h, reversed: true }))
  return [...first, ...back].flatMap(({ index, event, reversed }) => {
    const snapshot = snapshots[index]
    if (snapshot === undefined) return []
    return movedBy(event, snapshot).flatMap(([player, direction]) => {
      const instrumentId = snapshot.players.find((p) => p.playerId === player)?.instrumentId
      if (instrumentId === undefined) return []
      const at = instant(atOf(index) - lead * SECOND_MS)
      return [{ at, instrumentId, direction: reversed ? opposite(direction) : direction }]
    })
  })
}

const courtsideOpens = (lead: number): Strategy => ({
  name: `courtside opens, ${lead} s ahead`,
  knows: 'courtside',
  prepare(foresight, hands) {
    for (const { at, instrumentId, direction } of ahead(foresight, lead)) bet(hands, instrumentId, { at, direction })
  },
})

/** A hair away from the price: reached by the next move, whichever way it goes. */
const HAIR = price(1)

/** Opens with a stop and a target as near as the rules allow, so that the feed itself closes what the hold would keep. */
const courtsideLevels = (lead: number, distancePpm: number): Strategy => ({
  name: `courtside by levels, ${lead} s ahead`,
  knows: 'courtside',
  prepare(foresight, hands) {
    for (const { at, instrumentId, direction } of ahead(foresight, lead)) {
      const before = foresight.bases.findLast((_, index) => foresight.atOf(index) <= at)?.get(instrumentId)
      if (before === undefined) continue
      const away = (sign: 1 | -1): Price =>
        price(before + sign * (Math.ceil((before * distancePpm) / MICROS_PER_UNIT) + HAIR))
      const takeProfit = away(direction === 'long' ? 1 : -1)
      hands.open({ instrumentId, direction, at, heldForMs: 0, takeProfit })
    }
  },
})

/**
 * Holds every starter both ways from kick-off, and closes the side that an event will hurt just before the feed shows it.
 * The other side is kept: what is earned is what leaving early is worth.
 */
const courtsideCloses = (lead: number): Strategy => ({
  name: `courtside closes, ${lead} s ahead`,
  knows: 'courtside',
  prepare({ snapshots, atOf }, hands) {
    const kickOff = snapshots.findIndex((s) => s.periods.length > 0)
    for (const { instrumentId, starter } of snapshots[kickOff]?.players ?? []) {
      if (!starter) continue
      for (const direction of ['long', 'short'] as const) {
        bet(hands, instrumentId, { at: instant(atOf(kickOff) + SECOND_MS), direction, heldForMs: null })
      }
    }
  },
  onUpdate(floor, foresight) {
    const until = instant(floor.now + UPDATE_MS)
    for (const { at, instrumentId, direction } of ahead(foresight, lead)) {
      if (at < floor.now || at >= until) continue
      const hurt = floor.held().filter((p) => p.instrumentId === instrumentId && p.direction === opposite(direction))
      for (const { id } of hurt) floor.close({ at, positionId: id })
    }
  },
})

const UPDATE_MS = 10 * SECOND_MS

/** Knows shots on target and saves that the list of events never shows: any move of a base by half a per cent. */
const shotsAhead = (lead: number): Strategy => ({
  name: `shots and saves, ${lead} s ahead`,
  knows: 'courtside',
  prepare({ bases, atOf, snapshots }, hands) {
    const listed = new Set(happenings(snapshots).map(({ index }) => index))
    for (const [index, now] of bases.entries()) {
      if (listed.has(index)) continue
      for (const [instrumentId, base] of now) {
        const before = bases[index - 1]?.get(instrumentId) ?? base
        if (Math.abs(base - before) * 200 < before) continue
        const direction = base > before ? 'long' : 'short'
        bet(hands, instrumentId, { at: instant(atOf(index) - lead * SECOND_MS), direction })
      }
    }
  },
})

/** Has seen the recording: longs and shorts at kick-off what moves most until the end. */
const recordingForesight: Strategy = {
  name: 'has seen the recording',
  knows: 'recording',
  prepare({ bases, atOf, snapshots }, hands) {
    const kickOff = snapshots.findIndex((s) => s.periods.length > 0)
    const [first, last] = [bases[kickOff], bases.at(-1)]
    if (first === undefined || last === undefined) return
    const moved = [...first].map(([id, base]) => ({ id, by: (last.get(id) ?? base) / base - 1 }))
    for (const { id, by } of moved.toSorted((a, b) => Math.abs(b.by) - Math.abs(a.by)).slice(0, 5)) {
      const direction = by > 0 ? 'long' : 'short'
      bet(hands, id, { at: instant(atOf(kickOff) + SECOND_MS), direction, heldForMs: null })
    }
  },
}

export interface BatteryOptions {
  /** Of the club's players: expected goals of their own side less those of the other. Null when unknown. */
  readonly supremacyOf: (instrument: Instrument) => number | null
  /** What a player is worth against the usual player of their role. */
  readonly worthOf: (instrument: Instrument) => number
  /** How far a level must be from the price while the hold runs, in parts per million; 0 where the rules know no distance. */
  readonly levelDistancePpm: number
  readonly seed: number
}

/** Seconds ahead of the feed at which courtside strategies are tried. */
const LEADS = [5, 10, 20, 30, 40, 60] as const

export function battery({ supremacyOf, worthOf, levelDistancePpm, seed }: BatteryOptions): readonly Strategy[] {
  const all = (direction: Direction) => (floor: Floor) => starters(floor, () => 0).map((i) => [i, direction] as const)
  const best = (floor: Floor) => starters(floor, worthOf)
  return [
    fromKickOff('long every starter', all('long')),
    fromKickOff('short every starter', all('short')),
    fromKickOff('long the three best by price', (f) =>
      best(f)
        .slice(0, 3)
        .map((i) => [i, 'long']),
    ),
    fromKickOff('short the three worst by price', (f) =>
      best(f)
        .slice(-3)
        .map((i) => [i, 'short']),
    ),
    fromKickOff('favourites long, underdogs short', (floor) =>
      starters(floor, () => 0).flatMap((i) => {
        const by = supremacyOf(i) ?? 0
        return Math.abs(by) < 0.6 ? [] : [[i, by > 0 ? 'long' : 'short'] as const]
      }),
    ),
    ...[10, 30, 60].map((secs) => afterEvent('long the scorer', secs, isGoal, scorer)),
    afterEvent('long the assist', 10, isGoal, assist),
    ...[10, 60].map((secs) => afterEvent('short the booked', secs, isBooking, offender)),
    afterEvent('short the sent off', 10, isSendingOff, offender),
    moves('follow moves of 0.1 %', true),
    moves('mean reversion', false),
    halfTime,
    losersAt(30, 'short'),
    losersAt(60, 'long'),
    lastMinute,
    honest(seed),
    ...LEADS.map(courtsideOpens),
    ...LEADS.map(courtsideCloses),
    ...[10, 20, 40].map((lead) => courtsideLevels(lead, levelDistancePpm)),
    ...[10, 20, 40].map(shotsAhead),
    recordingForesight,
  ]
}
