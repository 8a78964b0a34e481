/** When a match of the list "Coming up" begins. */
import { afterAll, expect, it, vi } from 'vitest'
import { es } from '../../src/web/words/es.ts'
import { stubPage } from '../support/page-globals.ts'

stubPage('es')
afterAll(() => void vi.unstubAllGlobals())

const SIDE = { name: 'Harbour', score: null, shootout: null }
interface Fixture {
  readonly state: string | null
  readonly startsAt: string
  readonly home: typeof SIDE
  readonly away: typeof SIDE
}
/** Its types are those of a browser, which tests do not have. */
const BEGINS: string = '../../src/web/features/watchlist/begins.ts'
const { beginsWords }: { beginsWords: (match: Fixture, now: number) => string } = await import(BEGINS)

it('a match that is not sure to begin at its time says why, and no time', () => {
  const startsAt = '2026-05-02T14:00:00.000Z'
  const said = (state: string | null) =>
    beginsWords({ state, startsAt, home: SIDE, away: SIDE }, Date.parse(startsAt) - 90 * 60_000)
  expect([said('NS'), said(null)]).toEqual(['en 1 h 30 min', 'en 1 h 30 min'])
  expect(['TBA', 'DELAYED', 'POSTPONED'].map(said)).toEqual([es.match.dateOpen, es.match.delayed, es.match.postponed])
})
