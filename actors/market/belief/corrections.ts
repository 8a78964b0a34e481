/** Rows of a list that no longer tell what they told. They wait for a second list, or for statistics that agree. */
import type { PlayerId } from '../../kernel/ids.ts'
import type { FixtureEvent, FixtureEventKind, FixtureSnapshot, SaidFixture, Side } from '../fixture.ts'
import { minuteEnd, playedSecs } from '../play-time.ts'
import { counts, type Incident, isGoal, near, scoringSide } from '../incidents.ts'
import type { DiscreteAction } from '../scoring.ts'
import { countsIn } from '../stated-counts.ts'
import type { Doubts } from './beliefs.ts'
import { family, isExchanged, isSame } from './rows.ts'

interface Known extends Pick<FixtureSnapshot, Side | 'periods'> {
  readonly incidents?: readonly Incident[]
}

/** A new row comes at most this long after its minute, or after the last answer. */
const LATE_SECS = 180

/**
 * The answer with doubtful rows held back for one list: a row that contradicts a fact that counts still says that fact,
 * and a card, missed penalty or assist that earlier answers should have listed is left out. Otherwise a row that one
 * poll gets wrong would move prices there and back.
 */
export function withoutCorrections(
  said: SaidFixture,
  known: Known,
  waiting: Doubts['rows'],
  doubtful: ReadonlySet<PlayerId>,
) {
  const { events } = said
  if (events === null) return { said, doubts: waiting }
  const told: Told = { said, known, events, facts: known.incidents ?? [], doubtful }
  const doubts: Record<string, string> = {}
  const believed = events.flatMap((row): FixtureEvent | readonly FixtureEvent[] => {
    const fact = replacedBy(row, told)
    if (fact === undefined && !isLate(row, told)) return row
    const text = [row.kind, row.playerId, row.relatedPlayerId, row.minute, row.rescinded].join(' ')
    if (waiting[row.id] === text || (fact !== undefined && isAgreed(row, fact, told))) return row
    doubts[row.id] = text
    if (fact === undefined) return []
    const { id, kind, minute, extraMinute, period, playerId, relatedPlayerId } = fact
    const names = { playerName: null, relatedPlayerName: null }
    return { ...row, ...names, id, kind, minute, extraMinute, period, playerId, relatedPlayerId, rescinded: false }
  })
  return { said: { ...said, events: believed }, doubts }
}

interface Told {
  readonly said: SaidFixture
  readonly known: Known
  readonly events: readonly FixtureEvent[]
  readonly facts: readonly Incident[]
  /** Players whose statistics may be those of another: they agree with nothing. */
  readonly doubtful: ReadonlySet<PlayerId>
}

/** Cards, or missed penalties, that no two answers are apart by. */
const MANY = 4

/**
 * Whether a new row is of a time that was told without it, makes a dismissal of a booking that was told, or comes with
 * many of its kind, and the statistics do not have it. Of goals the score decides.
 */
function isLate(row: FixtureEvent, told: Told): boolean {
  const { facts, events, known } = told
  const actions = isGoal(row.kind) || row.rescinded ? [] : statedAs(row.kind)
  const isNew = (other: FixtureEvent): boolean => !facts.some((one) => one.id === other.id || isSame(one, other))
  if (actions.length === 0 || row.playerId === null || !isNew(row)) return false
  const isOfMany =
    known.periods.length > 0 &&
    events.filter((other) => family(other.kind) === family(row.kind) && isNew(other)).length >= MANY
  const isBooking = ({ kind, playerId, minute, extraMinute }: Incident): boolean =>
    kind === 'yellow' && playerId === row.playerId && minute === row.minute && extraMinute === row.extraMinute
  return (
    (isOfMany || isOld(row, known.periods) || facts.some(isBooking)) &&
    !isStated(row.playerId, 'playerId', actions, told)
  )
}

/** Whether the answer before was of long after the minute of a row. */
export function isOld(row: FixtureEvent | Incident, periods: FixtureSnapshot['periods']): boolean {
  const toldSecs = playedSecs(periods)
  return minuteEnd({ listedAt: toldSecs, ...row }, periods, toldSecs) + LATE_SECS < toldSecs
}

/** The fact that counts, that a row tells no longer, and that no other row tells instead. */
function replacedBy(row: FixtureEvent, told: Told): Incident | undefined {
  const counting = told.facts.filter((fact) => counts(fact) && isMoving(fact))
  const own = counting.filter(({ id }) => id === row.id)
  const before = own.length > 0 ? own : counting.filter((fact) => isInPlaceOf(row, fact, told))
  if (before.some((fact) => !isChanged(row, fact, told))) return undefined
  const isNew = (other: FixtureEvent): boolean =>
    !told.facts.some((fact) => fact.id === other.id && isSame(fact, other))
  return before.find((fact) => !told.events.some((other) => other !== row && isSame(fact, other) && isNew(other)))
}

/** Whether a row names whom it moves. Reviews only say more about something else. */
const isMoving = ({ kind, playerId }: Incident): boolean =>
  kind === 'substitution' || (playerId !== null && statedAs(kind).length > 0)

/** Whether a row came under a new id for a fact that is gone: of its side and minute, no goal that the score adds. */
function isInPlaceOf(row: FixtureEvent, fact: Incident, { said, known, events, facts }: Told): boolean {
  const isKnown = facts.some(({ id }) => id === row.id) || events.some(({ id }) => id === fact.id)
  const side = isGoal(fact.kind) ? scoringSide(fact) : fact.side
  if (isKnown || family(row.kind) !== family(fact.kind) || row.side !== side || !near(row, fact)) return false
  if (row.kind !== 'substitution') return !isGoal(row.kind) || goalsIn(said) <= goalsIn(known)
  const names = [fact.playerId, fact.relatedPlayerId].filter((id) => id !== null)
  return names.some((id) => id === row.playerId || id === row.relatedPlayerId)
}

const goalsIn = ({ home, away }: Pick<SaidFixture, Side>): number => (home.goals ?? 0) + (away.goals ?? 0)

/**
 * Whether a row contradicts a fact. One that names a player for the first time, or no longer, does not, unless it gives
 * an assist for a goal of long ago.
 */
function isChanged(row: FixtureEvent, fact: Incident, told: Told): boolean {
  const { kind, playerId, relatedPlayerId } = row
  if (row.rescinded || kind !== fact.kind || !near(row, fact)) return true
  const isOwnAssist = kind === 'goal' && relatedPlayerId !== null && relatedPlayerId === fact.playerId
  if (isOther(playerId, fact.playerId) || isOwnAssist) return kind !== 'substitution' || !isExchanged(row, fact)
  if (isNewAssist(row, fact) && fact.relatedPlayerId === null) return isOld(fact, told.known.periods)
  // An opponent is taken off by mistake: who left is not known.
  const related = told.said.players.find((player) => player.playerId === fact.relatedPlayerId)
  const isOpponent = related !== undefined && fact.side !== null && related.side !== fact.side
  return isOther(relatedPlayerId, fact.relatedPlayerId) && !isOpponent
}

const isNewAssist = ({ kind, relatedPlayerId: id }: FixtureEvent, { relatedPlayerId: before }: Incident): boolean =>
  kind === 'goal' && id !== null && id !== before

const isOther = (a: PlayerId | null, b: PlayerId | null): boolean => a !== null && b !== null && a !== b

/** Whether the statistics of the same answer have what its rows tell of a player. */
function isStated(
  id: PlayerId | null,
  by: keyof FixtureEvent,
  actions: readonly DiscreteAction[],
  { said, events, doubtful }: Told,
  of = actions,
): boolean {
  if (id !== null && doubtful.has(id)) return false
  const player = said.players.find(({ playerId }) => playerId === id)
  const stated = countsIn(player?.details ?? {}, player?.role ?? 'MID')
  const listed = events.filter((one) => one[by] === id && of.some((action) => action === one.kind)).length
  return listed > 0 && actions.reduce((sum, action) => sum + (stated[action] ?? 0), 0) >= listed
}

/** Whether the statistics of the same answer, or its score, tell what a corrected row does. */
function isAgreed(row: FixtureEvent, fact: Incident, told: Told): boolean {
  const { said, known } = told
  if (row.kind === 'substitution') return false
  if (row.rescinded) {
    const hasFallen = isGoal(fact.kind) && goalsIn(said) < goalsIn(known)
    const isDoubtful = fact.playerId !== null && told.doubtful.has(fact.playerId)
    return hasFallen || !(isDoubtful || isStated(fact.playerId, 'playerId', statedAs(fact.kind), told))
  }
  if (!near(row, fact)) return false
  const isOtherFact = row.kind !== fact.kind || isOther(row.playerId, fact.playerId)
  // A second yellow card is no straight red one.
  const own = statedAs(row.kind).filter((action) => action === row.kind)
  const isOtherAssist = isNewAssist(row, fact)
  return (
    (isOtherFact || isOtherAssist) &&
    (!isOtherFact || isStated(row.playerId, 'playerId', own, told)) &&
    (!isOtherAssist || isStated(row.relatedPlayerId, 'relatedPlayerId', ['assist'], told, ['goal']))
  )
}

/** The statistics that count what rows of a kind tell. */
function statedAs(kind: FixtureEventKind): readonly DiscreteAction[] {
  if (kind === 'red' || kind === 'second_yellow') return ['red', 'second_yellow']
  return COUNTED.filter((action) => action === kind)
}

const COUNTED = ['goal', 'own_goal', 'penalty_goal', 'penalty_missed', 'yellow'] as const
