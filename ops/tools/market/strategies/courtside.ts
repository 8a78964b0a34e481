/** What a trader tries who is seconds ahead of the feed, or has seen the whole match before. */
import type { InstrumentId, PlayerId, PositionId } from '../../../../actors/kernel/ids.ts'
import { lots, type Price, price } from '../../../../actors/kernel/micros.ts'
import { type Instant, instant, SECOND_MS } from '../../../../actors/kernel/world.ts'
import type { FixtureEvent, FixtureSnapshot } from '../../../../actors/market/fixture.ts'
import { quoteOf } from '../../../../actors/market/instrument.ts'
import { type Direction, type Position, signOf } from '../../../../actors/position/position.ts'
import { concedingOf, isBooking, isGoal, isSendingOff, type Happening } from '../plot.ts'
import type { Desk, Foresight, Hands, Strategy } from '../strategy.ts'
import { bet, kickOffOf, opposite } from './bets.ts'

interface Seen {
  /** The update that will show it. */
  readonly index: number
  readonly instrumentId: InstrumentId
  /** The direction that it rewards. */
  readonly direction: Direction
}

/** Whom an event moves, and which way. */
function movedBy(event: FixtureEvent, snapshot: FixtureSnapshot): readonly (readonly [PlayerId, Direction])[] {
  const { playerId, relatedPlayerId, kind } = event
  if (playerId === null) return []
  if (isBooking(event) || isSendingOff(event) || kind === 'own_goal') return [[playerId, 'short']]
  if (!isGoal(event)) return []
  const assisted = relatedPlayerId === null || kind !== 'goal' ? [] : [[relatedPlayerId, 'long'] as const]
  const conceded = concedingOf(event, snapshot).map((player) => [player, 'short'] as const)
  return [[playerId, 'long'], ...assisted, ...conceded]
}

type Sees = (foresight: Foresight) => readonly Seen[]

const inPlot = (happenings: readonly Happening[], { snapshots }: Foresight): readonly Seen[] =>
  happenings.flatMap(({ index, event }) => {
    const snapshot = snapshots[index]
    if (snapshot === undefined) return []
    return movedBy(event, snapshot).flatMap(([player, direction]) => {
      const instrumentId = snapshot.players.find((p) => p.playerId === player)?.instrumentId
      return instrumentId === undefined ? [] : [{ index, instrumentId, direction }]
    })
  })

/** Goals, cards and own goals, with everybody they move. */
const events: Sees = (foresight) => inPlot(foresight.plot.shown, foresight)

/** Goals that are about to be taken back. */
const annulments: Sees = (foresight) =>
  inPlot(foresight.plot.annulled, foresight).map((seen) => ({ ...seen, direction: opposite(seen.direction) }))

/**
 * Moves of a base between these sizes that the list of events does not show: shots on target and saves, or tackles,
 * fouls and passes that add up.
 */
const shots =
  (farPpm: number, lessThanPpm = Infinity): Sees =>
  ({ bases, plot }) => {
    const listed = new Set([...plot.shown, ...plot.annulled].map(({ index }) => index))
    return bases.flatMap((now, index) => {
      if (listed.has(index)) return []
      return [...now].flatMap(([instrumentId, base]) => {
        const before = bases[index - 1]?.get(instrumentId) ?? base
        const farness = Math.abs(base - before) * 1_000_000
        if (farness < before * farPpm || farness >= before * lessThanPpm) return []
        return [{ index, instrumentId, direction: base > before ? ('long' as const) : ('short' as const) }]
      })
    })
  }

const ahead = ({ atOf }: Foresight, { index }: Seen, lead: number): Instant => instant(atOf(index) - lead * SECOND_MS)

const opens = (name: string, sees: Sees, lead: number): Strategy => ({
  name: `${name}, ${lead} s ahead`,
  leadSecs: lead,
  prepare(foresight, hands) {
    for (const seen of sees(foresight)) {
      bet(hands, seen.instrumentId, { at: ahead(foresight, seen, lead), direction: seen.direction })
    }
  },
})

/** Opens with a target as near as the rules allow, so that the feed itself closes what the hold would keep. */
const opensByLevels = (lead: number, distancePpm: number): Strategy => ({
  name: `opens by levels, ${lead} s ahead`,
  leadSecs: lead,
  prepare(foresight, hands) {
    for (const seen of events(foresight)) {
      const at = ahead(foresight, seen, lead)
      const { instrumentId, direction } = seen
      const before = foresight.bases.findLast((_, index) => foresight.atOf(index) <= at)?.get(instrumentId)
      if (before === undefined) continue
      hands.open({ instrumentId, direction, at, heldForMs: 0, takeProfit: near(before, direction, distancePpm) })
    }
  },
})

/** A price that the next move reaches, beyond a distance that the rules ask for. */
const near = (at: Price, direction: Direction, distancePpm: number): Price =>
  price(at + signOf(direction) * (Math.ceil((at * distancePpm) / 1_000_000) + 10_000))

/** Time enough before the news to open a position and to let its hold pass. */
const BEFORE_MS = 200 * SECOND_MS

/**
 * Holds a player both ways when news comes, having closed the side that it hurts, and closes the other side afterwards.
 * What the two earn together is what leaving early is worth, and nothing else is in it.
 */
const closes = (name: string, sees: Sees, lead: number, leave: () => Leave): Strategy => ({
  name: `${name}, ${lead} s ahead`,
  leadSecs: lead,
  prepare(foresight, hands) {
    const from = foresight.atOf(kickOffOf(foresight))
    const busyUntil = new Map<InstrumentId, Instant>()
    for (const seen of sees(foresight)) {
      const { instrumentId } = seen
      const at = ahead(foresight, seen, lead)
      const since = instant(at - BEFORE_MS)
      if (since <= from || since < (busyUntil.get(instrumentId) ?? from)) continue
      busyUntil.set(instrumentId, instant(at + 2 * BEFORE_MS))
      const publishedAt = instant(foresight.atOf(seen.index) + SECOND_MS)
      hands.later(since, (desk) => hold(desk, seen, { at, publishedAt, leave: leave(), hands }))
    }
  },
})

type Leave = (desk: Desk, position: Position) => Promise<unknown>

interface Plan {
  /** When the hurt side leaves, and when the feed has published it. */
  readonly at: Instant
  readonly publishedAt: Instant
  readonly leave: Leave
  readonly hands: Hands
}

async function hold(
  desk: Desk,
  { instrumentId, direction }: Seen,
  { at, publishedAt, leave, hands }: Plan,
): Promise<void> {
  const order = { instrumentId, lots: SIZE }
  const [kept, hurt] = [
    await desk.open(PAIR, { ...order, direction }),
    await desk.open(PAIR, { ...order, direction: opposite(direction) }),
  ]
  if (kept === null || hurt === null) return
  hands.later(at, async (then) => void (await leave(then, hurt)))
  hands.later(publishedAt, (then) => stay(then, kept.id, hands))
}

/** Leaves as soon as the market lets it. */
async function stay(desk: Desk, id: PositionId, hands: Hands): Promise<void> {
  if (desk.view.position(id) === undefined || desk.view.info.settling !== null) return
  if (!(await desk.close(PAIR, id))) hands.later(instant(desk.now + 10 * SECOND_MS), (then) => stay(then, id, hands))
}

const PAIR = 'pair'
const SIZE = lots(100_000)

const byHand =
  (): Leave =>
  (desk, { id }) =>
    desk.close(PAIR, id)

/** A stop a hair away, which the news itself fires. */
const byLevel =
  (): Leave =>
  async (desk, { id, instrumentId, direction }) => {
    const instrument = desk.view.instrument(instrumentId)
    if (instrument === undefined) return
    await desk.change(PAIR, id, { stopLoss: near(quoteOf(instrument).price, opposite(direction), 0) })
  }

/** Has seen the recording: longs and shorts at kick-off what moves most until the end. */
const recordingForesight: Strategy = {
  name: 'has seen the recording',
  leadSecs: Infinity,
  prepare(foresight, hands) {
    const { bases, atOf } = foresight
    const kickOff = kickOffOf(foresight)
    const [first, last] = [bases[kickOff], bases.at(-1)]
    if (first === undefined || last === undefined) return
    const moved = [...first].map(([id, base]) => ({ id, by: (last.get(id) ?? base) / base - 1 }))
    for (const { id, by } of moved.toSorted((a, b) => Math.abs(b.by) - Math.abs(a.by)).slice(0, 5)) {
      const direction = by > 0 ? 'long' : 'short'
      bet(hands, id, { at: instant(atOf(kickOff) + SECOND_MS), direction, heldForMs: null })
    }
  },
}

/** Seconds ahead of the feed at which courtside strategies are tried. */
const LEADS = [5, 10, 20, 30, 40, 60] as const

/** Seconds before the row of a penalty at which it is given. */
const PENALTY_LEADS = [60, 120] as const

/** Midfielders of the side that is about to concede. */
const midfielders: Sees = ({ plot, snapshots }) =>
  plot.shown.flatMap(({ index, event }) => {
    const snapshot = snapshots[index]
    if (snapshot === undefined) return []
    const conceding = new Set(concedingOf(event, snapshot, ['MID']))
    return snapshot.players
      .filter(({ playerId }) => conceding.has(playerId))
      .map(({ instrumentId }) => ({ index, instrumentId, direction: 'short' as const }))
  })

/** A penalty that has been given, before it is taken: the taker gains on average, the keeper loses. */
const penalties: Sees = ({ plot, snapshots }) =>
  plot.shown.flatMap(({ index, event }) => {
    if (event.kind !== 'penalty_goal' && event.kind !== 'penalty_missed') return []
    const players = snapshots[index]?.players ?? []
    const taker = players.find(({ playerId }) => playerId === event.playerId)
    const keeper = players.find((p) => p.starter && p.role === 'GK' && p.side !== taker?.side)
    return [
      ...(taker === undefined ? [] : [{ index, instrumentId: taker.instrumentId, direction: 'long' as const }]),
      ...(keeper === undefined ? [] : [{ index, instrumentId: keeper.instrumentId, direction: 'short' as const }]),
    ]
  })

const SHOT_PPM = 6_000
/** Smaller moves, by size. */
const SMALL = [
  ['0.1–0.3 %', 1_000, 3_000],
  ['0.3–0.6 %', 3_000, SHOT_PPM],
] as const
/** How far levels are from the price, in parts per million. */
const LEVEL_PPM = 5_000

export function courtsideStrategies(): readonly Strategy[] {
  return [
    ...LEADS.map((lead) => opens('opens', events, lead)),
    ...[20, 40].map((lead) => opensByLevels(lead, LEVEL_PPM)),
    ...LEADS.map((lead) => closes('closes', events, lead, byHand)),
    ...[20, 40].map((lead) => closes('closes by levels', events, lead, byLevel)),
    ...[10, 20, 40].map((lead) => opens('opens on shots and saves', shots(SHOT_PPM), lead)),
    ...[10, 40].map((lead) => closes('closes on shots and saves', shots(SHOT_PPM), lead, byHand)),
    ...[10, 40].map((lead) => opens('opens on annulled goals', annulments, lead)),
    ...[5, 20, 40].map((lead) => opens('shorts midfielders who will concede', midfielders, lead)),
    ...PENALTY_LEADS.map((lead) => opens('long the taker, short the keeper of a penalty', penalties, lead)),
    ...SMALL.flatMap(([size, from, to]) => [
      ...[5, 20, 40].map((lead) => opens(`opens on moves of ${size}`, shots(from, to), lead)),
      closes(`closes on moves of ${size}`, shots(from, to), 20, byHand),
    ]),
    recordingForesight,
  ]
}
