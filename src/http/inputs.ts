/** What requests bring: ids, decimals and pages, read into the types of the domain. */
import { z } from '@hono/zod-openapi'
import type { HonoRequest, MiddlewareHandler } from 'hono'
import { districtId, fixtureId, instrumentId, leagueId, positionId, userId } from '../../actors/kernel/ids.ts'
import { KEY_LENGTH_MAX } from '../../actors/kernel/limits.ts'
import { MICROS_MAX, MICROS_PER_UNIT, microsFromDecimal, microsNearest, price } from '../../actors/kernel/micros.ts'
import { isCommon, type Purse, purseNamed } from '../../actors/kernel/purse.ts'
import { instant } from '../../actors/kernel/world.ts'
import type { HttpEnv } from './answers.ts'
import { commonPurse, PURSE_TEXT } from './schemas.ts'
import { FIRST_YEAR, INSTANT_MAX, INSTANT_MIN, LAST_YEAR } from './unfit-values.ts'
import { strictBody } from './unknown-names.ts'

const uuid = (example: string) => z.guid().toLowerCase().openapi({ format: 'uuid', example })

export const InstrumentIdInput = uuid('0198f3a2-7c1d-8e00-8f00-0123456789ab').transform(instrumentId)
export const PositionIdInput = uuid('0197f2a0-5d5b-7cc4-8f3e-1d2c3b4a5968').transform(positionId)
export const LeagueIdInput = uuid('0197f2a0-7e10-7c40-9a51-3c2b1a09f8e7').transform(leagueId)
export const UserIdInput = uuid('0197f2a0-1c2d-7d3e-8f40-5a6b7c8d9e0f').transform(userId)

/** Persian names and some emoji are written with joiners. */
const LINE = /^[\P{C}\u200c\u200d]*$/u
/** The blank of braille is a symbol, and fillers are letters. */
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u

/**
 * A name or the like: a line of text without control characters, of which something is seen. The same letters are the
 * same text, however they were composed.
 */
export const LineInput = z
  .string()
  .trim()
  .normalize()
  .min(1, { abort: true })
  .max(64)
  .refine((text) => LINE.test(text), 'must not contain control characters')
  .refine((text) => VISIBLE.test(text), 'must not be blank')

/** Why an operator acts, in words for the user whom it concerns. */
export const reasonInput = z
  .string()
  .trim()
  .min(1)
  .max(300)
  .regex(/^\P{C}*$/u, 'must not contain control characters')
  .openapi({ pattern: '^\\P{C}*$', example: 'Opened positions just before goals in three matches' })

const IN_UTF_8 = String.raw`\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$`
export const JSON_TYPE = new RegExp(`^application/json${IN_UTF_8}`, 'i')
export const CSV_TYPE = new RegExp(`^text/csv${IN_UTF_8}`, 'i')

/**
 * Whether a body is of this type as it was sent. The framework reads any `application/*+json`, every character set as
 * UTF-8, and every encoding as none.
 */
export const isPlain = (request: Pick<HonoRequest, 'header'>, type: RegExp): boolean =>
  type.test(request.header('content-type') ?? '') && /^(identity)?$/i.test(request.header('content-encoding') ?? '')

/** The `body` of a request that may have none. Its route passes `bodyMayBeEmpty`. */
export const optionalBody = <Schema extends z.ZodType>(schema: Schema) => ({
  content: { 'application/json': { schema } },
})

/** Before a body that may be left out: one without a byte is left out, whatever type it is said to have. */
export const bodyMayBeEmpty: MiddlewareHandler<HttpEnv> = async (c, next) => {
  if ((await c.req.arrayBuffer()).byteLength === 0) c.req.raw.headers.delete('content-type')
  return next()
}

/** The same for the audit log alone. It is kept for ever, so it names no user. */
export const auditReason = reasonInput
  .optional()
  .openapi({ description: 'For the audit log.', example: 'The feed was wrong for ten minutes' })

const UINT32_MAX = 0xffff_ffff

export const FixtureIdInput = z
  .string()
  .refine((text) => /^[1-9]\d{0,9}$/.test(text) && Number(text) <= UINT32_MAX, { error: 'must be a fixture number' })
  .openapi({ example: '19155071' })
  .transform((text) => fixtureId(Number(text)))

/** A fixture's number in a body. */
export const FixtureNumberInput = z.int().min(1).max(UINT32_MAX).openapi({ example: 19_155_071 }).transform(fixtureId)

export const DistrictIdInput = z.int().min(1).max(2_147_483_647).openapi({ example: 1 }).transform(districtId)

/** A decimal on the wire as micros of one kind. Refuses more than 6 decimals and numbers out of range. */
export const decimalInput = <T>(kind: (micros: number) => T, wire: z.ZodNumber = z.number()) =>
  wire.transform((value, ctx): T => {
    const micros = microsFromDecimal(value)
    if (micros !== null) return kind(micros)
    ctx.addIssue({ code: 'custom', message: 'must have at most 6 decimals and lie within ±1,000,000,000' })
    return z.NEVER
  })

/**
 * A price that is only compared, never booked: rounded to the nearest micro, and not to none, so that a client need not
 * round what it has computed.
 */
export const comparedPriceInput = (
  wire: z.ZodNumber = z
    .number()
    .positive()
    .max(MICROS_MAX / MICROS_PER_UNIT),
) => wire.transform((value) => price(Math.max(microsNearest(value), 1)))

/** A whole number in decimal digits: `Number` also reads "0x10" and an empty text. */
export const wholeInput = (min: number, max: number) =>
  z.preprocess(
    (text) => (typeof text === 'string' && /^-?\d+$/.test(text) ? Number(text) : text),
    z.int('must be a whole number').min(min).max(max),
  )

/** How many rows a page holds at most. */
export const limitInput = (byDefault: number, max = 100) => wholeInput(1, max).default(byDefault)

/** How many rows to skip. */
export const offsetInput = (max = 1_000_000) =>
  wholeInput(0, max).default(0).openapi({ description: 'Rows to skip, after those of `cursor`.' })

/** Whether a text names no time outside the range: such a one is a mistake, and not every database can keep it. */
export const isNearTime = (text: string): boolean => {
  const at = Date.parse(text)
  return Number.isNaN(at) || (at >= INSTANT_MIN && at <= INSTANT_MAX)
}
export const NEAR_TIMES = `must be between the years ${FIRST_YEAR} and ${LAST_YEAR}`

/** An instant in ISO 8601, with `Z` or an offset. */
export const timeInput = z.iso
  .datetime({ offset: true })
  .refine(isNearTime, NEAR_TIMES)
  .openapi({ format: 'date-time', example: '2026-05-02T14:00:00.000Z' })
  .transform((text) => instant(Date.parse(text)))

/** Narrows a list to a stretch of time. */
export const stretchInput = {
  from: timeInput.optional().openapi({ description: 'At this time or later.' }),
  to: timeInput.optional().openapi({ description: 'Before this time.' }),
}

/** A purse that every user has. */
export const commonPurseInput = commonPurse.default('main')

/** A purse that every user has, or that of a league. */
export const purseText = z
  .string()
  .transform((name, ctx): Purse => {
    // The id of a league, like every id, in any case.
    const purse = purseNamed(name) ?? purseNamed(name.toLowerCase())
    if (purse !== null && (purse === name || !isCommon(purse))) return purse
    ctx.addIssue({ code: 'custom', message: 'must be main, practice or the id of a league' })
    return z.NEVER
  })
  .openapi({ description: PURSE_TEXT, example: 'main' })
export const purseInput = purseText.default('main')

/** An idempotency key. */
const Key = z
  .string()
  .min(1)
  .max(KEY_LENGTH_MAX)
  .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
  .openapi({
    description: 'Chosen by the client. A retry with the same key and body gets the first answer again.',
    example: 'b7f0c1d2',
  })
export const IDEMPOTENCY_KEY = 'Idempotency-Key'
export const KeyHeader = z.object({ [IDEMPOTENCY_KEY]: Key.optional() })

/** The `body` of a request that must have one. */
export const jsonBody = <Schema extends z.ZodType>(schema: Schema) => ({
  required: true,
  content: { 'application/json': { schema } },
})

/** The `body` of a request with these fields and no others. */
export const fieldsBody = <const Shape extends z.core.$ZodShape>(shape: Shape) => jsonBody(strictBody(shape))
