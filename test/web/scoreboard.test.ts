/** The state of a match in words: the provider's names are codes. */
import { readFileSync } from 'node:fs'
import { afterAll, expect, it, vi } from 'vitest'
import { isKnownState, VOIDED } from '../../actors/market/phase.ts'
import { es } from '../../src/web/words/es.ts'
import { stubPage } from '../support/page-globals.ts'

stubPage('es')
afterAll(() => void vi.unstubAllGlobals())

const SIDE = { name: 'Harbour', score: null, shootout: null }
type State = (match: { state: string | null; startsAt: string; home: typeof SIDE; away: typeof SIDE }) => string
/** Its types are those of a browser, which tests do not have. */
const SCOREBOARD: string = '../../src/web/parts/scoreboard.ts'
const { stateWords, isOver }: { stateWords: State; isOver: (match: { state: string | null }) => boolean } =
  await import(SCOREBOARD)

const table = /PHASE_BY_NAME[^{]+\{([^}]+)\}/.exec(readFileSync('actors/market/phase.ts', 'utf8'))?.[1] ?? ''

const said = (state: string | null): string =>
  stateWords({ state, startsAt: '2026-05-02T14:00:00.000Z', home: SIDE, away: SIDE })

it('each state that the market knows has words, and another is not known', () => {
  const states = ['VOID', ...[...table.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name ?? '')]
  expect(states.length).toBeGreaterThan(25)
  expect(states.filter((state) => !isKnownState(state))).toEqual([])
  const named = states.map((state) => [state, said(state)] as const)
  expect(named.filter(([state, words]) => words === state)).toEqual([])
  // The provider does not know either.
  expect(named.flatMap(([state, words]) => (words === es.match.unknown ? [state] : []))).toEqual(['AWAITING_UPDATES'])
  expect([said('SOMETHING_NEW'), said(null)]).toEqual([es.match.unknown, es.match.unknown])
})

it('a match is over in each state that the market knows as an end, and in no other', () => {
  const phases = [...table.matchAll(/^ {2}(\S+): '(\w+)',$/gm)].map(([, name = '', phase = '']) => ({
    state: name === '[VOIDED]' ? VOIDED : name,
    isEnd: ['ended', 'final', 'off'].includes(phase),
  }))
  expect(phases.filter(({ isEnd }) => isEnd).length).toBeGreaterThan(10)
  expect(phases.filter(({ state, isEnd }) => isOver({ state }) !== isEnd)).toEqual([])
  expect(isOver({ state: null })).toBe(false)
})
