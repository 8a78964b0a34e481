/** What the server refuses, in the language of the user: with its English text it would be half a translation. */
import { afterAll, expect, it, vi } from 'vitest'
import { FEATURES } from '../../src/features/index.ts'
import { ERROR_CODES } from '../../src/http/error-codes.ts'
import { es } from '../../src/web/words/es.ts'
import { stubPage } from '../support/page-globals.ts'

stubPage('es')
afterAll(() => void vi.unstubAllGlobals())

/** Its types are those of a browser, which tests do not have. */
const MESSAGES: string = '../../src/web/error-messages.ts'
const { refusalMessage }: { refusalMessage: (facts: { error: string; code: string }) => string } = await import(
  MESSAGES
)

/** What only a program, an operator or another page gets: the page of a player does not cause it. */
const OF_OTHERS = [
  'MALFORMED_JSON',
  'FORBIDDEN',
  'SCOPE_MISSING',
  'ORIGIN_NOT_ALLOWED',
  'EMAIL_NOT_VERIFIED',
  'METHOD_NOT_ALLOWED',
  'KEY_REUSED',
  'REBUILD_UNDER_WAY',
  'MATCH_OVER',
  'OWN_ROLE',
  'OWN_STATUS',
  'FLAG_LIMIT',
  'FLAG_BUILT_IN',
  'REPLAY_LIMIT',
  'LENGTH_REQUIRED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  // Opens the next step of the sign-in.
  'NEEDS_PROFILE',
  'NOT_READY',
  'LEAGUE_KEEPS_MEMBERS',
  'WEEK_NOT_COUNTED',
  'POSITION_VOID',
  'REST_OPEN',
  'TOURNAMENT_LIMIT',
  'TOURNAMENT_BEGUN',
  'RECORDING_EXISTS',
  'RECORDING_LIMIT',
  'RECORDING_PLAYING',
  'WEBHOOK_LIMIT',
  // An operator reads it, in the control room.
  'RULES_MOVE_PRICES',
  // Its issues name the fields.
  'VALIDATION_FAILED',
]

const codes = [ERROR_CODES, ...FEATURES.map(({ errors }) => errors ?? {})].flatMap((table) => Object.entries(table))
const SERVER = 'the text of the server'
const said = (facts: { code: string }): string => {
  const times = { until: 0, nextAt: 0, startsAt: 0, endsAt: 0 }
  return refusalMessage({ error: SERVER, ...times, ...facts })
}

it('each refusal that a player may meet has words of the page', () => {
  const own = codes.map(([code]) => code).filter((code) => !OF_OTHERS.includes(code))
  expect(own.length).toBeGreaterThan(40)
  expect(own.filter((code) => said({ code }).toLowerCase().startsWith(SERVER))).toEqual([])
})

it('what is not found is a league, if a code was typed', () => {
  expect(said({ code: 'NOT_FOUND' })).toBe(es.errors.NOT_FOUND)
  expect(said({ code: 'NOT_FOUND', what: 'league' } as { code: string })).toBe(es.errors.noLeague)
})
