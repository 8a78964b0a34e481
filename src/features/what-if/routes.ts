/** `POST /api/admin/settings/what-if`: settings tried on recordings before they are in force. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { decimal } from '../../../actors/kernel/micros.ts'
import type { WhatIf } from './what-if.ts'
import type { Comparison } from './play.ts'
import { type OutcomeBody, WhatIfBody } from './schema.ts'
import { answerWith, errors, fail, type HttpEnv, invalid } from '../../http/answers.ts'
import { ADMIN, BODY } from '../../http/error-codes.ts'
import { ADMIN_WRITE_SECURITY, type Gates } from '../../http/gates.ts'
import { fieldsBody } from '../../http/inputs.ts'
import { PPM_PER_PERCENT } from '../../http/json.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'

/** Most settings and recordings of one question. */
const [SETTINGS_MAX, RECORDINGS_MAX] = [50, 3]
const SEEDS_MAX = 999
const RETRY_AFTER_SECS = 10

const route = createRoute({
  method: 'post',
  path: '/api/admin/settings/what-if',
  operationId: 'tryOutSettings',
  tags: ['Admin'],
  summary: 'Try settings on recordings before setting them',
  description:
    'Plays each recording twice with the same 60 simulated traders: under the settings in force, and with the draft in ' +
    'their place. Nothing is set. Trading modes are not tried. One request at a time per process, in a thread of its ' +
    'own and for at most a minute; it ends when its client leaves. `UNAVAILABLE` if another is running, or the minute ' +
    'is over.',
  security: ADMIN_WRITE_SECURITY,
  request: {
    body: fieldsBody({
      settings: z
        .record(z.string().min(1).max(100), z.union([z.number(), z.boolean(), z.string().max(100)]))
        .refine((settings) => Object.keys(settings).length <= SETTINGS_MAX, `at most ${SETTINGS_MAX} settings`)
        .openapi({ description: 'The draft: values by key.', example: { 'scoring.base.goal': 6 } }),
      recordings: z
        .array(z.string().min(1).max(100))
        .min(1)
        .max(RECORDINGS_MAX)
        .openapi({
          description: 'Ids as `GET /api/admin/gameplay-bot/fixtures` lists them, or `match-<id>` for an ended match.',
          example: ['goal-feast'],
        }),
      seed: z.int().min(0).max(SEEDS_MAX).default(0).openapi({
        description: 'Seeds the chance of the traders. Try several: what differs between their answers is chance.',
      }),
    }),
  },
  responses: { 200: json(WhatIfBody, 'What was, and what would have been.'), ...errors(...ADMIN, ...BODY) },
})

export interface WhatIfPorts {
  readonly whatIf: Pick<WhatIf, 'ask'>
}

export function whatIfSettings({ settings, whatIf }: WhatIfPorts & Pick<HttpDeps, 'settings'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.admin }, async (c) => {
    const { settings: draft, recordings, seed } = c.req.valid('json')
    const drafted = settings.draft(draft)
    if (drafted.kind === 'unknown') return fail(c, invalid(`settings.${drafted.key}`, 'is not a setting'))
    if (drafted.kind === 'invalid') return fail(c, invalid(`settings.${drafted.key}`, drafted.problem))
    const { was, would } = drafted
    const outcome = await whatIf.ask({ recordings, was, would, seed }, c.req.raw.signal)
    if (outcome.kind === 'unknown_recording')
      return fail(c, invalid('recordings', `${outcome.name} is not a recording`))
    if (outcome.kind !== 'played') return fail(c, answerWith('UNAVAILABLE', { retryAfterSecs: RETRY_AFTER_SECS }))
    return c.json({ matches: outcome.matches.map(comparisonJson) }, 200)
  })
}

const outcomeJson = ({ opened, house, ...counts }: Comparison['was']): z.output<typeof OutcomeBody> => ({
  positions: opened,
  ...counts,
  house: decimal(house),
})

const comparisonJson = ({ recording, was, would, moved, movedCount }: Comparison & { readonly recording: string }) => ({
  recording,
  was: outcomeJson(was),
  would: outcomeJson(would),
  movedCount,
  moved: moved.map(({ name, was: from, would: to, farthestPpm }) => ({
    name,
    was: decimal(from),
    would: decimal(to),
    farthestPct: farthestPpm / PPM_PER_PERCENT,
  })),
})
