/** What people and scripts try that know only what the feed has shown everybody. */
import { ANCHOR_BY_ROLE } from '../../../../actors/kernel/limits.ts'
import { type Price, price } from '../../../../actors/kernel/micros.ts'
import { instant, SECOND_MS } from '../../../../actors/kernel/world.ts'
import type { PlayerRole } from '../../../../actors/market/fixture.ts'
import type { Instrument } from '../../../../actors/market/instrument.ts'
import { DEFAULT_MODEL } from '../../../../actors/market/scoring.ts'
import { chanceFrom } from '../../../../actors/replay/chance.ts'
import type { Direction } from '../../../../actors/position/position.ts'
import { RATING_WEIGHTS } from '../../../../actors/replay/generator/match-details.ts'
import type { Floor, Foresight, Strategy } from '../strategy.ts'
import { isSendingOff } from '../plot.ts'
import { bet, isKickOff, opposite, reaches, soon, starters } from './bets.ts'

type Picked = readonly (readonly [Instrument, Direction])[]
const all = (instruments: readonly Instrument[], direction: Direction): Picked =>
  instruments.map((i) => [i, direction] as const)

/** Bets at kick-off on what `pick` chooses, until full time. */
const fromKickOff = (name: string, pick: (floor: Floor, foresight: Foresight) => Picked): Strategy => ({
  name,
  leadSecs: 0,
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

/** Follows every move of at least a tenth of a per cent, or bets on its return. */
const moves = (name: string, along: boolean): Strategy => ({
  name,
  leadSecs: 0,
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
  leadSecs: 0,
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
  leadSecs: 0,
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
  leadSecs: 0,
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
  leadSecs: 0,
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
  leadSecs: 0,
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
    leadSecs: 0,
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

/** Seconds of play after which the provider rates a player, and how far ahead of that a trader acts. */
const RATED_AFTER = 600
const DEBUT_AHEAD = 60
/** A rating that is further than this from the usual first one is worth a bet. */
const DEBUT_EDGE = 0.15

/** Knows by what rule the provider rates, and so which way the first rating of a player will be off the usual one. */
const debuts: Strategy = {
  name: 'the first rating, foretold',
  leadSecs: 0,
  onUpdate(floor) {
    if (!reaches(floor, (RATED_AFTER - DEBUT_AHEAD) / 60)) return
    for (const { id, playerId, role } of starters(floor, () => 0)) {
      const details = floor.snapshot.players.find((p) => p.playerId === playerId)?.details ?? {}
      const ahead = RATING_WEIGHTS.reduce((sum, [type, weight]) => sum + weight * (details[type] ?? 0), 0)
      const { start, end } = DEFAULT_MODEL.rating
      const off = ahead - ((end[role] - start) * RATED_AFTER) / 5_400
      if (Math.abs(off) >= DEBUT_EDGE) bet(floor, id, { direction: off > 0 ? 'long' : 'short', at: soon(floor) })
    }
  },
}

/** A minute after a sending-off, until full time: short who is left of the ten, long who plays against them. */
const tenMen = (name: string, roles: readonly PlayerRole[]): Strategy => ({
  name,
  leadSecs: 0,
  onUpdate(floor, { plot }) {
    for (const { event } of plot.shown.filter(({ index, event: e }) => index === floor.index && isSendingOff(e))) {
      const side = floor.instrumentOf(event.playerId)?.side
      for (const { id, role, side: own, playerId } of starters(floor, () => 0)) {
        if (side === undefined || playerId === event.playerId || !roles.includes(role)) continue
        const at = instant(floor.now + 60 * SECOND_MS)
        bet(floor, id, { direction: own === side ? 'short' : 'long', at, heldForMs: null })
      }
    }
  },
})

/** What the last match has moved a start price to: short who gained, long who lost. */
const lastMatch = (name: string, byPpm: number): Strategy =>
  fromKickOff(name, (floor, { histories }) =>
    starters(floor, () => 0).flatMap((i) => {
      const off = i.start / (histories.get(i.id)?.anchor ?? i.start) - 1
      return Math.abs(off) * 1_000_000 < byPpm ? [] : [[i, off > 0 ? 'short' : 'long'] as const]
    }),
  )

/** Those for which it matters when and how the feed tells what happens. */
export const followers = (seed: number): readonly Strategy[] => [
  moves('follow moves of 0.1 %', true),
  moves('bet on their return', false),
  lastMinute,
  honest(seed),
]

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
    lastMatch('between matches: short who gained, long who lost', 1),
    lastMatch('between matches: the furthest', 30_000),
    debuts,
    tenMen('ten men short, eleven long', ['GK', 'DEF', 'MID', 'FWD']),
    tenMen('ten men short, eleven long: forwards', ['FWD']),
    halfTime,
    losersAt(30, 'short'),
    losersAt(60, 'long'),
    bench,
    levelsAway('levels a hair away', 0),
    levelsAway('levels as near as allowed', levelDistancePpm),
    ...followers(seed),
  ]
}
