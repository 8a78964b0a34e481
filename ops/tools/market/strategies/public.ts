/** What people and scripts try that know only what the feed has shown everybody. */
import type { PlayerId } from '../../../../actors/kernel/ids.ts'
import { ANCHOR_BY_ROLE } from '../../../../actors/kernel/limits.ts'
import { type Price, price } from '../../../../actors/kernel/micros.ts'
import { instant, SECOND_MS } from '../../../../actors/kernel/world.ts'
import type { FixtureEvent } from '../../../../actors/market/fixture.ts'
import type { Instrument } from '../../../../actors/market/instrument.ts'
import { chanceFrom } from '../../../../actors/replay/chance.ts'
import type { Direction } from '../../../../actors/position/position.ts'
import type { Floor, Foresight, Strategy } from '../strategy.ts'
import { concedingOf, isBooking, isGoal, isSendingOff } from '../plot.ts'
import { bet, isKickOff, opposite, reaches, soon, starters } from './bets.ts'

type Picked = readonly (readonly [Instrument, Direction])[]
const all = (instruments: readonly Instrument[], direction: Direction): Picked =>
  instruments.map((i) => [i, direction] as const)

/** Bets at kick-off on what `pick` chooses, until full time. */
const fromKickOff = (name: string, pick: (floor: Floor, foresight: Foresight) => Picked): Strategy => ({
  name,
  knows: 'public',
  onUpdate(floor, foresight) {
    if (!isKickOff(floor)) return
    for (const [{ id }, direction] of pick(floor, foresight)) {
      bet(floor, id, { direction, at: soon(floor), heldForMs: null })
    }
  },
})

/** What a player is worth against the usual player of their role. */
const worthOf = ({ start, role }: Instrument): number => start / ANCHOR_BY_ROLE[role]

/** Expected goals of a player's side less those of the other; 0 where there are no odds. */
function supremacyOf({ side }: Instrument, { snapshots }: Foresight): number {
  const goals = snapshots[0]?.expectedGoals ?? null
  if (goals === null) return 0
  return side === 'home' ? goals.home - goals.away : goals.away - goals.home
}

/** Odds further apart than this name a favourite, in goals. */
const SUPREMACY = 0.6

const favourites = fromKickOff('favourites long, underdogs short', (floor, foresight) =>
  starters(floor, () => 0).flatMap((i) => {
    const by = supremacyOf(i, foresight)
    return Math.abs(by) < SUPREMACY ? [] : [[i, by > 0 ? 'long' : 'short'] as const]
  }),
)

/** Bets some time after the feed has shown an event, and leaves as soon as the hold ends. */
const afterEvent = (
  name: string,
  secs: number,
  wanted: (event: FixtureEvent) => boolean,
  bets: (event: FixtureEvent, floor: Floor) => readonly (readonly [PlayerId | null, Direction])[],
): Strategy => ({
  name: `${name} +${secs} s`,
  knows: 'public',
  onUpdate(floor, { plot }) {
    for (const { event } of plot.shown.filter(({ index, event: e }) => index === floor.index && wanted(e))) {
      for (const [player, direction] of bets(event, floor)) {
        const instrument = floor.instrumentOf(player)
        if (instrument === undefined) continue
        const at = instant(floor.now + secs * SECOND_MS)
        floor.open({ instrumentId: instrument.id, direction, at, heldForMs: 0, insists: true })
      }
    }
  },
})

const scorer = (event: FixtureEvent) => [[event.playerId, 'long']] as const
const assist = (event: FixtureEvent) => [[event.relatedPlayerId, 'long']] as const
const offender = (event: FixtureEvent) => [[event.playerId, 'short']] as const
const conceding = (event: FixtureEvent, { snapshot }: Floor) =>
  concedingOf(event, snapshot).map((player) => [player, 'short'] as const)

/** Follows every move of at least a tenth of a per cent, or bets on its return. */
const moves = (name: string, along: boolean): Strategy => ({
  name,
  knows: 'public',
  onUpdate(floor) {
    for (const { id } of floor.view.instruments()) {
      const [before, now] = [floor.pricesBefore.get(id), floor.priceOf(id)]
      if (before === undefined || Math.abs(now - before) < before / 1_000) continue
      const up: Direction = now > before ? 'long' : 'short'
      bet(floor, id, { direction: along ? up : opposite(up), at: soon(floor) })
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
    const how = { at: soon(floor), heldForMs: 180 * SECOND_MS }
    for (const { id } of moved.slice(0, 3)) bet(floor, id, { direction: 'long', ...how })
    for (const { id } of moved.slice(-3)) bet(floor, id, { direction: 'short', ...how })
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
      bet(floor, id, { direction, at: soon(floor), heldForMs: null })
    }
  },
})

/** Shorts every starter in the last minute: what the whistle takes from a one-sided book. */
const lastMinute: Strategy = {
  name: 'last-minute shorts',
  knows: 'public',
  onUpdate(floor) {
    if (!reaches(floor, 89)) return
    for (const { id } of starters(floor, () => 0)) {
      bet(floor, id, { direction: 'short', at: soon(floor), heldForMs: null })
    }
  },
}

/** Longs who has not come on: nothing on the pitch moves them, so only a crowd could. */
const bench: Strategy = {
  name: 'long the bench',
  knows: 'public',
  onUpdate(floor) {
    if (!reaches(floor, 5)) return
    for (const { id, starter } of floor.view.instruments()) {
      if (!starter) bet(floor, id, { direction: 'long', at: soon(floor), heldForMs: null })
    }
  },
}

/** A level next to the price, so that the next move closes what the hold would keep. */
const levelsAway = (name: string, distancePpm: number): Strategy => ({
  name,
  knows: 'public',
  onUpdate(floor) {
    if (floor.index % 30 !== 0) return
    for (const { id } of starters(floor, () => 0)) {
      const at = floor.priceOf(id)
      const away = (sign: 1 | -1): Price => price(at + sign * (Math.ceil((at * distancePpm) / 1_000_000) + 10_000))
      floor.open({
        instrumentId: id,
        direction: 'long',
        at: soon(floor),
        heldForMs: 0,
        stopLoss: away(-1),
        takeProfit: away(1),
      })
    }
  },
})

export const HONEST = 'honest'
/** Opens anything at any time for three to eight minutes: an honest user, by whom the cost of the rules is measured. */
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

/** Strategies after an event, against statistics that come later than the list of events. */
export const afterLateStatistics = (secs: number): readonly Strategy[] => {
  const named = (name: string): string => `statistics ${secs} s late: ${name}`
  return [
    afterEvent(named('long the scorer'), 1, isGoal, scorer),
    afterEvent(named('long the scorer'), 30, isGoal, scorer),
    afterEvent(named('long the assist'), 1, isGoal, assist),
    afterEvent(named('short who concedes'), 1, isGoal, conceding),
    afterEvent(named('short the booked'), 1, isBooking, offender),
    afterEvent(named('short the sent off'), 1, isSendingOff, offender),
  ]
}

export function publicStrategies(levelDistancePpm: number, seed: number): readonly Strategy[] {
  const best = (floor: Floor) => starters(floor, worthOf)
  const dearest = (floor: Floor) => starters(floor, ({ start }) => start)
  return [
    fromKickOff('long every starter', (f) => all(starters(f, worthOf), 'long')),
    fromKickOff('short every starter', (f) => all(starters(f, worthOf), 'short')),
    fromKickOff('long the three best for their role', (f) => all(best(f).slice(0, 3), 'long')),
    fromKickOff('short the three worst for their role', (f) => all(best(f).slice(-3), 'short')),
    fromKickOff('long the five dearest', (f) => all(dearest(f).slice(0, 5), 'long')),
    fromKickOff('short the five cheapest', (f) => all(dearest(f).slice(-5), 'short')),
    favourites,
    ...[10, 30, 60].map((secs) => afterEvent('long the scorer', secs, isGoal, scorer)),
    ...[10, 30, 60].map((secs) => afterEvent('long the assist', secs, isGoal, assist)),
    ...[10, 30, 60].map((secs) => afterEvent('short the booked', secs, isBooking, offender)),
    afterEvent('short the sent off', 10, isSendingOff, offender),
    afterEvent('short who concedes', 10, isGoal, conceding),
    moves('follow moves of 0.1 %', true),
    moves('bet on their return', false),
    halfTime,
    losersAt(30, 'short'),
    losersAt(60, 'long'),
    lastMinute,
    bench,
    levelsAway('levels a hair away', 0),
    levelsAway('levels as near as allowed', levelDistancePpm),
    honest(seed),
  ]
}
