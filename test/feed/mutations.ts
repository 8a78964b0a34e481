/** Rules about a feed that errs, each removed. A run of `feed-troubles` must catch every one of them. */
import type { Mutation } from '../support/mutants.ts'

const mutation = (name: string, file: string, from: string, to: string): Mutation => ({
  name,
  edits: [{ file, from, to }],
})

const BELIEVE = 'actors/market/belief/believe.ts'
const SCORE = 'actors/market/belief/score.ts'
const RECONCILE = 'actors/market/belief/reconcile.ts'
const ROWS = 'actors/market/belief/rows.ts'
const CLOCK = 'actors/market/feed-clock.ts'
const FIELDS = 'src/provider/fields.ts'
const PAYLOAD = 'src/provider/payload.ts'
const SNAPSHOT = 'src/provider/snapshot.ts'
const SPELLS = 'actors/market/spells.ts'

export const MUTATIONS: readonly Mutation[] = [
  mutation(
    'what cannot follow counts at once',
    BELIEVE,
    `const isBelieved = isRepeated || (!isDoubtful(type) && (follows(last) || (isExplained && isLower)))`,
    `const isBelieved = true`,
  ),
  mutation(
    'statistics that are missing are zero',
    BELIEVE,
    `believed: { ...before, ...believed }, doubts`,
    `believed: { ...believed }, doubts`,
  ),
  mutation(
    'the score may fall for a poll',
    SCORE,
    `      goalsCanFollow(before, now, minutes) ||`,
    `      now >= 0 ||`,
  ),
  mutation('list and statistics hold no score', SCORE, `if (isHeld && !isExplained)`, `if (isHeld && isExplained)`),
  mutation(
    'the counts of all may fall to zero',
    'actors/market/belief/old-answers.ts',
    `const BEGUN_AGAIN = 0.2`,
    `const BEGUN_AGAIN = -1`,
  ),
  mutation(
    'counts that begin again are told in full',
    'actors/market/belief/old-answers.ts',
    `n + (untold[playerId]?.[Number(type)] ?? 0)`,
    `n`,
  ),
  mutation(
    'the score vouches for no goal',
    RECONCILE,
    `if (isGoal(kind)) return side !== null && snapshot[side].goals !== null`,
    `if (isGoal(kind)) return false`,
  ),
  mutation('more goals count than the score has', RECONCILE, `.slice(0, score)`, `.slice(0, score + 9)`),
  mutation(
    'a booking counts in every minute anew',
    ROWS,
    `const isOnce = (kind: FixtureEventKind): boolean => kind === 'yellow' || family(kind) === 'dismissal'`,
    `const isOnce = (kind: FixtureEventKind): boolean => kind === 'var' && family(kind) === 'dismissal'`,
  ),
  mutation('a list that is empty is one', ROWS, `return isEmptied ? null : (list ?? null)`, `return list ?? null`),
  mutation(
    'exchanged names stay exchanged',
    SPELLS,
    `return isExchanged ? { on: relatedPlayerId, off: playerId }`,
    `return isExchanged && playing.size < 0 ? { on: relatedPlayerId, off: playerId }`,
  ),
  mutation(
    'the end waits for the clock',
    CLOCK,
    `const isRunning = snapshot.periods.some((p) => p.ticking) && phase !== 'break' && !isOver(phase)`,
    `const isRunning = snapshot.periods.length > 0 || isOver(phase)`,
  ),
  mutation('a half that was told too early goes on', CLOCK, `const BEGUN_SECS = 300`, `const BEGUN_SECS = -1`),
  mutation(
    'exchanged statistics count at once',
    'actors/market/belief/exchanged.ts',
    `const EXCHANGED_AHEAD = 2`,
    `const EXCHANGED_AHEAD = -1`,
  ),
  mutation(
    'multiplied statistics count at once',
    'actors/market/belief/exchanged.ts',
    `const TIMES_MIN = 1.4`,
    `const TIMES_MIN = 140`,
  ),
  mutation(
    'a corrected row counts at once',
    'actors/market/belief/corrections.ts',
    `if (waiting[row.id] === text ||`,
    `if (waiting[row.id] !== '' ||`,
  ),
  mutation(
    'an opponent may be taken off',
    SPELLS,
    `return side === null ? { on, off }`,
    `return side !== null ? { on, off }`,
  ),
  mutation(
    'a second half may count from 0',
    SNAPSHOT,
    `countsFrom > 0 && from > 0 && minutes`,
    `countsFrom > 0 && from >= 0 && minutes`,
  ),
  mutation('periods that may follow have begun', SNAPSHOT, `|| !hasBegun(period)`, `|| period.order < 1`),
  mutation(
    'a break that was long ago is one',
    'actors/market/belief/old-answers.ts',
    `return isOld || isOfAnother(said, known) ?`,
    `return isOfAnother(said, known) ?`,
  ),
  mutation(
    'the answer about another match is one',
    'actors/market/belief/old-answers.ts',
    `return isOld || isOfAnother(said, known) ?`,
    `return isOld ?`,
  ),
  mutation(
    'a card may come at any time',
    'actors/market/belief/corrections.ts',
    `if (fact === undefined && !isLate(row, told)) return row`,
    `if (fact === undefined) return row`,
  ),
  mutation('a row may be copied', BELIEVE, `row.details === null || copied.has(row.playerId)`, `row.details === null`),
  mutation(
    'an end may come at any time',
    'actors/market/belief/old-answers.ts',
    `return !clockCanFollow(secsIn(before), secsIn(now), secsSince(said, sourceAt))`,
    `return false`,
  ),
  mutation(
    'statistics of others count at once',
    'actors/market/belief/old-answers.ts',
    `const FALLEN_MIN = 5`,
    `const FALLEN_MIN = 50`,
  ),
  mutation(
    'the counts of many may leap',
    'actors/market/belief/old-answers.ts',
    `(areMany(leapt) && minutes <= GAP_MINUTES)`,
    `(areMany(leapt) && minutes < 0)`,
  ),
  mutation(
    'all ratings may move at once',
    'actors/market/belief/exchanged.ts',
    `const MOVED_MIN = 5`,
    `const MOVED_MIN = 500`,
  ),
  mutation('a rating of 0 is one', PAYLOAD, `numberFrom(RATING.min, RATING.max)`, `numberFrom(0, 1_000)`),
  mutation('numbers have no comma', FIELDS, `text.replace(',', '.')`, `text.replace(',', '')`),
  mutation('a miss typed as a goal is a goal', SNAPSHOT, `of === type && text`, `of === -1 && text`),
]
