/** Minutes that a provider counts from the start of their period, as minutes of the match. */
import type { FixtureEvent, FixturePeriod, SaidFixture } from '../fixture.ts'
import type { Incident } from '../incidents.ts'
import { isOld } from './corrections.ts'
import { isSame } from './rows.ts'

/** A clock that goes on is at most this far from where it was. */
const APART_SECS = 180
/** A row of now comes at most this many minutes before or after its minute. */
const APART_MINUTES = 2

/**
 * How far a clock has run in its period, in seconds. One that would have gone back, and goes on if it is counted from
 * the start of its period, is counted from there.
 */
export function playedIn(
  { order, countsFrom, elapsedSecs: now }: SaidFixture['periods'][number],
  before: readonly FixturePeriod[],
): number | null {
  if (now === null) return null
  const last = before.find((one) => one.order === order)?.elapsedSecs ?? 0
  const own = now + countsFrom * 60
  const goesOn = now < last && Math.abs(own - last) <= APART_SECS
  return Math.max(0, goesOn ? own : now)
}

/**
 * The answer with the minutes of the match. A new row without a period, whose minute is long past, is of now where that
 * minute is the current one counted from the start of the current period.
 */
export function withMatchMinutes(
  payload: SaidFixture,
  { incidents = [] }: { readonly incidents?: readonly Incident[] },
  before: readonly FixturePeriod[],
): SaidFixture {
  const periods = payload.periods.map((period) => ({ ...period, elapsedSecs: playedIn(period, before) }))
  const said = { ...payload, periods }
  const current = periods.findLast(({ elapsedSecs }) => (elapsedSecs ?? 0) > 0)
  if (current === undefined || current.countsFrom === 0 || said.events === null) return said
  const shifted = (row: FixtureEvent): FixtureEvent => {
    if (row.minute === null || row.period !== null) return row
    const known = incidents.find(({ id }) => id === row.id)
    const of = known === undefined ? current.order : known.period
    const from = periods.find(({ order }) => order === of)?.countsFrom ?? 0
    const minute = row.minute + from
    const isOwn =
      known === undefined
        ? isNow(minute + (row.extraMinute ?? 0), current) &&
          isOld({ listedAt: 0, ...row }, before) &&
          !incidents.some((one) => isSame(one, row))
        : known.minute === minute
    return isOwn ? { ...row, minute, period: known?.period ?? current.order } : row
  }
  return { ...said, events: said.events.map(shifted) }
}

const isNow = (minute: number, { countsFrom, elapsedSecs }: SaidFixture['periods'][number]): boolean =>
  Math.abs(minute - 1 - countsFrom - (elapsedSecs ?? 0) / 60) <= APART_MINUTES
