/** What everybody can try once the feed has shown something, and what those can who saw it before. */
import type { PlayerId } from '../../../../actors/kernel/ids.ts'
import { instant, SECOND_MS } from '../../../../actors/kernel/world.ts'
import type { FixtureEvent, FixtureSnapshot } from '../../../../actors/market/fixture.ts'
import { STATISTIC } from '../../../../actors/market/scoring.ts'
import type { Direction } from '../../../../actors/position/position.ts'
import { teamMate } from '../feeds.ts'
import { concedingOf, type Happening, isBooking, isGoal, isSendingOff } from '../plot.ts'
import type { Floor, Foresight, Strategy } from '../strategy.ts'

/** A kind of event, and the players whom it moves. */
interface Subject {
  readonly name: string
  readonly after: readonly number[]
  readonly happens: (foresight: Foresight) => readonly Happening[]
  readonly who: (event: FixtureEvent, snapshot: FixtureSnapshot) => readonly (PlayerId | null)[]
}

const shown =
  (wanted: (event: FixtureEvent) => boolean) =>
  ({ plot }: Foresight): readonly Happening[] =>
    plot.shown.filter(({ event }) => wanted(event))

const isReview = ({ kind, addition }: FixtureEvent): boolean => kind === 'var' && /review/i.test(addition ?? '')
const actor = (event: FixtureEvent) => [event.playerId]

const SUBJECTS: readonly Subject[] = [
  { name: 'the scorer', after: [1, 10, 30, 60], happens: shown(isGoal), who: actor },
  { name: 'the assist', after: [1, 30, 60], happens: shown(isGoal), who: (event) => [event.relatedPlayerId] },
  { name: 'who concedes', after: [1, 10, 30, 60], happens: shown(isGoal), who: (e, s) => concedingOf(e, s) },
  { name: 'midfielders who concede', after: [1], happens: shown(isGoal), who: (e, s) => concedingOf(e, s, ['MID']) },
  { name: 'who scored an own goal', after: [1, 30], happens: shown(({ kind }) => kind === 'own_goal'), who: actor },
  { name: 'the booked', after: [1, 30, 60], happens: shown(isBooking), who: actor },
  { name: 'the sent off', after: [1, 30], happens: shown(isSendingOff), who: actor },
  { name: 'the scorer under review', after: [1, 30], happens: shown(isReview), who: actor },
  { name: 'the scorer of an annulled goal', after: [1, 30], happens: ({ plot }) => plot.annulled, who: actor },
  { name: 'who missed a penalty', after: [1, 30], happens: shown(({ kind }) => kind === 'penalty_missed'), who: actor },
  {
    name: 'the keeper who faced it',
    after: [1, 30],
    happens: shown(({ kind }) => kind === 'penalty_missed'),
    who: ({ playerId }, { players }) => {
      const side = players.find((p) => p.playerId === playerId)?.side
      return players.filter((p) => p.starter && p.role === 'GK' && p.side !== side).map((p) => p.playerId)
    },
  },
]

/** Opens some time after the feed has shown it, and leaves as soon as the hold ends. */
const reaction = ({ name, happens, who }: Subject, secs: number, direction: Direction): Strategy => ({
  name: `${direction} ${name} +${secs} s`,
  leadSecs: 0,
  onUpdate(floor, foresight) {
    for (const { event } of happens(foresight).filter(({ index }) => index === floor.index)) {
      for (const player of who(event, floor.snapshot)) take(floor, player, direction, secs)
    }
  },
})

function take(floor: Floor, player: PlayerId | null, direction: Direction, secs: number): void {
  const instrument = floor.instrumentOf(player)
  if (instrument === undefined) return
  const at = instant(floor.now + secs * SECOND_MS)
  floor.open({ instrumentId: instrument.id, direction, at, heldForMs: 0, insists: true })
}

/** A second after the statistics state one more of something than before. */
const stated = (name: string, type: number, direction: Direction): Strategy => ({
  name: `${direction} ${name} by the statistics +1 s`,
  leadSecs: 0,
  onUpdate(floor) {
    const before = new Map(floor.before?.players.map((p) => [p.playerId, p.details]))
    for (const { playerId, details } of floor.snapshot.players) {
      if ((details?.[type] ?? 0) > (before.get(playerId)?.[type] ?? 0)) take(floor, playerId, direction, 1)
    }
  },
})

export const REACTIONS: readonly Strategy[] = [
  ...SUBJECTS.flatMap((subject) =>
    subject.after.flatMap((secs) => [reaction(subject, secs, 'long'), reaction(subject, secs, 'short')]),
  ),
  stated('the booked', STATISTIC.yellow, 'short'),
  stated('the booked', STATISTIC.yellow, 'long'),
  stated('the assist', STATISTIC.assists, 'long'),
  stated('the assist', STATISTIC.assists, 'short'),
]

/** Has seen what the list of events will tell late: acts so many seconds after it happened. */
const witness = (
  name: string,
  secs: number,
  leadSecs: number,
  saw: (h: Happening, f: Foresight) => Sight,
): Strategy => ({
  name: `${name} ${secs} s after it happened`,
  leadSecs,
  prepare(foresight, hands) {
    for (const happening of foresight.truth.shown) {
      const players = foresight.snapshots[happening.index]?.players ?? []
      for (const [player, direction] of saw(happening, foresight)) {
        const instrumentId = players.find((p) => p.playerId === player)?.instrumentId
        const at = instant(foresight.atOf(happening.index) + secs * SECOND_MS)
        if (instrumentId !== undefined) hands.open({ instrumentId, direction, at, heldForMs: 0 })
      }
    }
  },
})
type Sight = readonly (readonly [PlayerId | null, Direction])[]

const cardsAndAssists = ({ event }: Happening): Sight => {
  if (isBooking(event) || isSendingOff(event)) return [[event.playerId, 'short']]
  return isGoal(event) ? [[event.relatedPlayerId, 'long']] : []
}

/** For a feed whose list tells of cards and assists this many seconds late. */
export const witnessesOfLateRows = (lateSecs: number): readonly Strategy[] =>
  [5, 20].map((secs) => witness('cards and assists', secs, lateSecs - secs, cardsAndAssists))

/** For a feed that gives goals to a team-mate for this many seconds. */
export const witnessesOfWrongScorers = (lateSecs: number): readonly Strategy[] => [
  witness('the right scorer', 40, lateSecs - 40, ({ event, index }, { snapshots }) => {
    const snapshot = snapshots[index]
    if (!isGoal(event) || snapshot === undefined) return []
    const wrong = teamMate(event, snapshot)
    return wrong === event.playerId
      ? []
      : [
          [event.playerId, 'long'],
          [wrong, 'short'],
        ]
  }),
]
