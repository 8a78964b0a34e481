/**
 * What each error carries besides its text, code and request id. The answers are typed by this table, and the API
 * description is made from it.
 */
import { WINDOW_STATUSES } from '../../actors/kernel/outcome.ts'
import { z } from '@hono/zod-openapi'
import { SCOPES } from '../auth/scopes.ts'
import { ERROR_CODES, type ErrorCode, type Meaning } from './error-codes.ts'
import { amount, PositionBody, priceNumber, timestampText } from './schemas.ts'

const count = (example: number) => z.int().openapi({ example })
const units = (example: number) => amount.openapi({ example })
const lots = (example: number) => z.number().openapi({ description: 'Lots, at most 6 decimals.', example })

const tradeWindow = (status: 'SUSPENDED' | 'CLOSED', reason: string) =>
  z.object({
    status: z.enum(WINDOW_STATUSES).openapi({ example: status }),
    reason: z.string().nullable().openapi({ description: 'Why trading is not open.', example: reason }),
    open: z.boolean().openapi({ example: false }),
  })

const { status, currentPrice, exitPrice, unrealizedPnl, closePrice, realizedPnl, closedAt, closedBy } =
  PositionBody.shape
/** A position of the same form, with an example that is closed. */
const ClosedPosition = PositionBody.safeExtend({
  status: status.openapi({ example: 'closed' }),
  currentPrice: currentPrice.openapi({ example: 220 }),
  exitPrice: exitPrice.openapi({ example: 220 }),
  unrealizedPnl: unrealizedPnl.openapi({ example: 0 }),
  closePrice: closePrice.openapi({ example: 220 }),
  realizedPnl: realizedPnl.openapi({ example: 50 }),
  closedAt: closedAt.openapi({ example: '2026-05-02T14:40:00.000Z' }),
  closedBy: closedBy.openapi({ example: 'take_profit' }),
}).openapi('ClosedPosition')

/** What routes may not find; a feature declares its own. */
const THINGS: readonly string[] = [
  'instrument',
  'match',
  'position',
  'flag',
  'setting',
  'session',
  'key',
  'user',
  'fixture',
  'replay',
  'district',
  'reaction',
  'recording',
  'league',
]

const FACTS = {
  VALIDATION_FAILED: {
    issues: z.array(
      z.object({
        path: z.string().openapi({ description: 'The value, such as `anchors.3.price`.', example: 'lotSize' }),
        message: z.string().openapi({ example: 'Invalid input: expected number, received string' }),
      }),
    ),
  },
  INVALID_CODE: { attemptsRemaining: count(2) },
  SIGN_IN_AGAIN: { maxAgeSecs: count(900) },
  SCOPE_MISSING: { required: z.enum(SCOPES).nullable().openapi({ example: 'trade' }) },
  NOT_FOUND: {
    what: z.string().optional(),
  },
  PRICE_MOVED: { currentPrice: priceNumber, lastPublishedPrice: priceNumber.openapi({ example: 206.3 }) },
  MARKET_CLOSED: { tradeWindow: tradeWindow('CLOSED', 'the match is over') },
  MARKET_SUSPENDED: { tradeWindow: tradeWindow('SUSPENDED', 'an in-game event is being priced') },
  COOLDOWN_ACTIVE: {
    retry_after_secs: count(112),
    closableAt: timestampText.openapi({ example: '2026-05-02T14:33:00.000Z' }),
  },
  POSITION_NOT_OPEN: {
    position: ClosedPosition.optional(),
    positionId: z.uuid().optional().openapi({ description: 'In place of a position that cannot be read now.' }),
  },
  LEAGUE_NOT_RUNNING: {
    startsAt: timestampText.openapi({ example: '2026-05-01T00:00:00.000Z' }),
    endsAt: timestampText.openapi({ example: '2026-06-01T00:00:00.000Z' }),
  },
  POSITIONS_OPEN: { openPositions: count(2) },
  NOT_RUINED: { balance: units(312.5), below: units(100) },
  REFILLED_LATELY: { nextAt: timestampText.openapi({ example: '2026-05-09T14:30:00.000Z' }) },
  RULES_MOVE_PRICES: {
    maxMovePct: z.number().openapi({ example: 7.41 }),
    limitPct: z.number().openapi({ description: '`rules.max_move_pct`.', example: 2 }),
    moves: count(31),
    closes: count(12),
    unknownMatches: z
      .array(z.int())
      .readonly()
      .openapi({ description: 'Running matches without an answer yet.', example: [] }),
  },
  FLAG_LIMIT: { max: count(200) },
  REPLAY_LIMIT: { max: count(16) },
  LOT_SIZE_INVALID: { minLot: lots(0.01), maxLot: lots(100), lotStep: lots(0.01) },
  LEVELS_INVALID: { currentPrice: priceNumber },
  POSITION_LIMIT: { maxOpenPositions: count(100) },
  INSUFFICIENT_MARGIN: { required: units(525.1), available: units(312.44), maxLotSize: lots(2.97) },
  SELF_EXCLUDED: { until: timestampText.openapi({ example: '2026-05-09T14:30:00.000Z' }) },
  LIMIT_REACHED: {
    dailyLoss: units(500),
    lostToday: units(310.5),
    atStake: units(150),
    required: units(60.2),
    freeAt: timestampText.openapi({ example: '2026-05-03T00:00:00.000Z' }),
  },
  NEEDS_PROFILE: {
    needsProfile: z.literal(true),
    registrationTicket: z.string().openapi({
      description: 'Identifies the account in the next steps.',
      example: 'eyJhbGciOiJIUzI1NiJ9.dGlja2V0.c2lnbmVk',
    }),
    email: z.string().openapi({ example: 'ada@touchline.example' }),
    name: z.string().openapi({ example: 'Ada Lovell' }),
    picture: z.string().nullable().openapi({ example: 'https://pictures.touchline.example/ada.jpg' }),
    resendInSecs: z.int().openapi({ description: 'Seconds until another code can be requested.', example: 60 }),
  },
  RATE_LIMITED: { limit: z.string().openapi({ description: 'The limit, as in `RateLimit`.', example: 'global' }) },
  NOT_READY: {
    checks: z
      .record(z.string(), z.enum(['ok', 'failed']))
      .openapi({ example: { accepting: 'ok', database: 'failed', fastStore: 'ok' } }),
  },
} as const satisfies { readonly [Code in ErrorCode]?: z.core.$ZodShape }

type Facts = typeof FACTS
/** A code with facts. */
export type FactualCode = keyof Facts
/** The facts of an error with this code. */
export type FactsOf<Code extends FactualCode> = z.output<z.ZodObject<Facts[Code]>>

/** A code with what it carries. */
export interface ErrorKind extends Meaning {
  readonly facts?: z.core.$ZodShape
}
export type ErrorTable = Readonly<Record<string, ErrorKind>>

const factsOf = (code: string): Pick<ErrorKind, 'facts'> => {
  const facts = (FACTS as Readonly<Record<string, z.core.$ZodShape>>)[code]
  return facts === undefined ? {} : { facts }
}

/** The codes that routes share. */
const SHARED: ErrorTable = Object.fromEntries(
  Object.entries(ERROR_CODES).map(([code, meaning]) => [code, { ...meaning, ...factsOf(code) }]),
)

const REQUEST_ID = '0197f2a0-77aa-7b31-9d44-5c6d7e8f9a0b'

/** `PRICE_MOVED` is described by `PriceMovedError`. */
export const schemaName = (code: string): string =>
  `${code.toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Error`

/** What all errors have. */
export interface ErrorForm {
  readonly error: string
  readonly code: string
  readonly requestId: string
}

const bodyOf = ([code, { error, when, facts }]: readonly [string, ErrorKind]) =>
  z
    .object({
      error: z.string().openapi({ description: 'What is wrong, for people.', example: error }),
      code: z.literal(code),
      requestId: z.uuid().openapi({ description: 'Identifies this request in the log.', example: REQUEST_ID }),
      ...facts,
    })
    .openapi(schemaName(code), { description: when })

/** The errors of an API. */
export interface ApiErrors {
  readonly table: ErrorTable
  /** A union of all codes, each with its facts. */
  readonly body: z.ZodType<ErrorForm>
}

/** The shared errors with those of features. `things`: what the routes of features may not find. */
export function apiErrors(own: ErrorTable, things: readonly string[]): ApiErrors {
  const table = { ...SHARED, ...own }
  const what = z.enum([...THINGS, ...things]).optional()
  const described = what.openapi({ description: 'Absent if the path itself is unknown.', example: 'instrument' })
  const missing = { ...SHARED['NOT_FOUND'], facts: { what: described } } as ErrorKind
  const [first, ...others] = Object.entries({ ...table, NOT_FOUND: missing }).map(bodyOf)
  const body = z.discriminatedUnion('code', [first as ReturnType<typeof bodyOf>, ...others]).openapi('Error', {
    description: 'Every error has this form. `code` says which facts it carries in more fields.',
  }) as z.ZodType<ErrorForm>
  return { table, body }
}

const referenceTo = (code: string): string => `#/components/schemas/${schemaName(code)}`

/** The errors with one of these codes, in OpenAPI. */
export function schemaOf(codes: readonly string[]): object {
  const oneOf = codes.map((code) => ({ $ref: referenceTo(code) }))
  const mapping = Object.fromEntries(codes.map((code) => [code, referenceTo(code)]))
  return oneOf.length === 1 ? { ...oneOf[0] } : { oneOf, discriminator: { propertyName: 'code', mapping } }
}
