/** `GET /api/me/limits` and `PUT /api/me/limits`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { decimal, money } from '../../../../actors/kernel/micros.ts'
import {
  COOL_OFF_MAX_MS,
  EXCLUSION_MAX_MS,
  inForce,
  LIMIT_NAMES,
  type LimitName,
  pendingOf,
  type WantedLimits,
} from '../../../../actors/kernel/own-limits.ts'
import { DAY_MS, type Instant, instant } from '../../../../actors/kernel/world.ts'
import type { LimitsNow } from '../../../../db/own-limits.ts'
import { LimitsBody } from '../../account-schemas.ts'
import { errors, fail, type HttpEnv, invalid, UNAUTHORIZED } from '../../answers.ts'
import { BODY, CHANGE, SIGNED_IN } from '../../error-codes.ts'
import { BROWSER_SECURITY, type Gates } from '../../gates.ts'
import { decimalInput, fieldsBody, isNearTime, NEAR_TIMES } from '../../inputs.ts'
import { timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

const timeInput = z.iso
  .datetime({ offset: true })
  .refine(isNearTime, NEAR_TIMES)
  .openapi({ format: 'date-time', example: '2026-05-09T14:30:00.000Z' })
  .nullable()
  .optional()

const read = createRoute({
  method: 'get',
  path: '/api/me/limits',
  tags: ['Session'],
  summary: "The caller's own limits",
  description: 'Those in force, those that wait, and what counts against them today.',
  security: BROWSER_SECURITY,
  responses: { 200: json(LimitsBody, 'The limits in force, and those that wait.'), ...errors(...SIGNED_IN) },
})

const set = createRoute({
  method: 'put',
  path: '/api/me/limits',
  tags: ['Session'],
  summary: "Set the caller's own limits",
  description:
    'A limit that is left out stays; null removes it. A stricter value binds at once, in every match; a looser one after ' +
    '24 hours. `dailyLoss`: an open is refused whose margin, with the stakes and today’s loss, exceeds it ' +
    '(`LIMIT_REACHED`). `coolOffUntil` (at most 42 days) and `excludedUntil` (at most 5 years): until then the ' +
    'caller opens nothing in any purse (`SELF_EXCLUDED`); they can close, and set levels.',
  security: BROWSER_SECURITY,
  request: {
    body: fieldsBody({
      dailyLoss: decimalInput(money, z.number().min(0)).nullable().optional().openapi({ type: 'number', example: 500 }),
      coolOffUntil: timeInput,
      excludedUntil: timeInput,
    }),
  },
  responses: {
    200: json(LimitsBody, 'The limits in force, and those that wait.'),
    ...errors(...SIGNED_IN, ...BODY, ...CHANGE),
  },
})

const LONGEST = { coolOffUntil: COOL_OFF_MAX_MS, excludedUntil: EXCLUSION_MAX_MS }

export function ownLimits({ personal, world }: Pick<HttpDeps, 'personal' | 'world'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...read, middleware: gates.signedIn }, async (c) => {
      const now = await personal.limits(c.var.caller.userId)
      return now === null ? fail(c, UNAUTHORIZED) : c.json(limitsJson(now, world.now()), 200)
    })
    .openapi({ ...set, middleware: gates.signedIn }, async (c) => {
      const body = c.req.valid('json')
      const at = world.now()
      const wanted: { -readonly [name in LimitName]?: number | null } = {}
      if (body.dailyLoss !== undefined) wanted.dailyLoss = body.dailyLoss
      for (const name of ['coolOffUntil', 'excludedUntil'] as const) {
        const text = body[name]
        if (text === undefined) continue
        const until = text === null ? null : Date.parse(text)
        if (until !== null && until <= at) return fail(c, invalid(name, 'must be in the future'))
        if (until !== null && until > at + LONGEST[name]) {
          return fail(c, invalid(name, `must be within ${LONGEST[name] / DAY_MS} days`))
        }
        wanted[name] = until
      }
      const changed = await personal.changeLimits(c.var.caller.userId, wanted satisfies WantedLimits)
      return changed === null ? fail(c, UNAUTHORIZED) : c.json(limitsJson(changed, at), 200)
    })
}

function limitsJson({ limits, bounds }: LimitsNow, at: Instant): z.output<typeof LimitsBody> {
  const shown = {
    dailyLoss: (value: number | null) => (value === null ? null : decimal(money(value))),
    coolOffUntil: (value: number | null) => (value === null || value <= at ? null : timestamp(instant(value))),
    excludedUntil: (value: number | null) => (value === null || value <= at ? null : timestamp(instant(value))),
  }
  const waiting = LIMIT_NAMES.flatMap((name) => {
    const next = pendingOf(limits[name], at)
    return next === null ? [] : [[name, { value: shown[name](next.value), at: timestamp(next.at) }] as const]
  })
  return {
    dailyLoss: shown.dailyLoss(inForce(limits.dailyLoss, at)),
    coolOffUntil: shown.coolOffUntil(inForce(limits.coolOffUntil, at)),
    excludedUntil: shown.excludedUntil(inForce(limits.excludedUntil, at)),
    pending: Object.fromEntries(waiting),
    lostToday: decimal(bounds.lostToday),
    atStake: decimal(bounds.atStake),
    dayEndsAt: timestamp(instant((Math.floor(at / DAY_MS) + 1) * DAY_MS)),
  }
}
