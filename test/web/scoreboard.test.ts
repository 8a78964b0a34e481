/** The state of a match in words: the provider's names are codes. */
import { readFileSync } from 'node:fs'
import { afterAll, expect, it, vi } from 'vitest'
import { isKnownState } from '../../actors/market/phase.ts'
import { es } from '../../src/web/words/es.ts'
import { stubPage } from '../support/page-globals.ts'

stubPage('es')
afterAll(() => void vi.unstubAllGlobals())

const SIDE = { name: 'Harbour', score: null, shootout: null }
type State = (match: { state: string | null; startsAt: string; home: typeof SIDE; away: typeof SIDE }) => string
/** Its types are those of a browser, which tests do not have. */
const SCOREBOARD: string = '../../src/web/parts/scoreboard.ts'
const { stateWords }: { stateWords: State } = await import(SCOREBOARD)

const said = (state: string | null): string =>
  stateWords({ state, startsAt: '2026-05-02T14:00:00.000Z', home: SIDE, away: SIDE })

it('each state that the market knows has words, and another is not known', () => {
  const table = /PHASE_BY_NAME[^{]+\{([^}]+)\}/.exec(readFileSync('actors/market/phase.ts', 'utf8'))?.[1] ?? ''
  const states = ['VOID', ...[...table.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name ?? '')]
  expect(states.length).toBeGreaterThan(25)
  expect(states.filter((state) => !isKnownState(state))).toEqual([])
  const named = states.map((state) => [state, said(state)] as const)
  expect(named.filter(([state, words]) => words === state)).toEqual([])
  // The provider does not know either.
  expect(named.flatMap(([state, words]) => (words === es.match.unknown ? [state] : []))).toEqual(['AWAITING_UPDATES'])
  expect([said('SOMETHING_NEW'), said(null)]).toEqual([es.match.unknown, es.match.unknown])
})
