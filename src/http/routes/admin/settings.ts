/** `/api/admin/settings`: settings, listed and set, and the keys of the scoring multipliers. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { movesPrices, scopeOf, type SettingValue } from '../../../../actors/kernel/settings.ts'
import { MULTIPLIER_KEYS } from '../../../../actors/market/scoring-settings.ts'
import type { SettingEntry, SettingOutcome } from '../../../../db/settings.ts'
import { DryRunBody, SettingBody, settingValue } from '../../admin-schemas.ts'
import { type Answer, answerWith, errors, fail, type HttpEnv, invalid, notFound } from '../../answers.ts'
import { ADMIN, BODY } from '../../error-codes.ts'
import { ADMIN_READ_SECURITY, ADMIN_WRITE_SECURITY, type Gates } from '../../gates.ts'
import { auditReason, fieldsBody } from '../../inputs.ts'
import { timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { effectJson, summed } from './rule-effects.ts'

const list = createRoute({
  method: 'get',
  path: '/api/admin/settings',
  tags: ['Admin'],
  summary: 'All settings',
  description: 'The catalogue, and the trading mode of each single match or player whose mode is not `open`.',
  security: ADMIN_READ_SECURITY,
  responses: { 200: json(z.object({ settings: z.array(SettingBody) }), 'As in force.'), ...errors(...ADMIN) },
})

const set = createRoute({
  method: 'put',
  path: '/api/admin/settings/{key}',
  tags: ['Admin'],
  summary: 'Set a setting',
  description:
    'Takes effect in this process at once, in every other within a second, also in running matches. The trading mode of ' +
    'one match or player has the key `trading.mode.match.<fixture id>` or `trading.mode.instrument.<instrument id>`. ' +
    'Writes an audit entry. A setting that moves running prices says so first: `dryRun=true` changes nothing and answers ' +
    'the moves and closes it would cause. A change that would move any running price by more than `rules.max_move_pct` ' +
    'per cent is refused unless the body says `force: true`. ' +
    'The ticks it causes have the cause `rules`.',
  security: ADMIN_WRITE_SECURITY,
  request: {
    params: z.object({ key: z.string().min(1).max(100).openapi({ example: 'trading.hold_secs' }) }),
    query: z.object({
      dryRun: z
        .enum(['true', 'false'])
        .default('false')
        .openapi({ description: 'Change nothing; say what would move.' }),
    }),
    body: fieldsBody({
      value: settingValue,
      force: z
        .boolean()
        .default(false)
        .openapi({ example: false, description: 'Make the change however far it moves prices.' }),
      reason: auditReason,
    }),
  },
  responses: {
    200: json(z.union([DryRunBody, SettingBody]), 'Set, or with `dryRun` what would move.'),
    ...errors(...ADMIN, ...BODY, 'NOT_FOUND', 'RULES_MOVE_PRICES'),
  },
})

const multiplierKeys = createRoute({
  method: 'get',
  path: '/api/admin/settings/scoring/multiplier-keys',
  tags: ['Admin'],
  summary: 'The keys of the scoring multipliers, by role and action',
  description: 'Each is a setting that `PUT /api/admin/settings/{key}` accepts.',
  security: ADMIN_READ_SECURITY,
  responses: {
    200: json(z.object({ keys: z.array(z.string().openapi({ example: 'scoring.multiplier.FWD.goal' })) }), 'All keys.'),
    ...errors(...ADMIN),
  },
})

type Deps = Pick<HttpDeps, 'audit' | 'settings' | 'effectsOf' | 'catalogue'>

export function adminSettings({ audit, settings, effectsOf, catalogue }: Deps, gates: Gates) {
  /** What a change would do, and whether it takes force. */
  const foresee = async (key: string, to: SettingValue) => {
    const preview = settings.preview(key, to)
    if (preview.kind !== 'valid') return preview
    const effects = movesPrices(key) ? await effectsOf({ key, value: to }) : []
    const sum = summed(effects)
    const limitPct = settings.value('rules.max_move_pct')
    const needsForce = sum.maxMovePct > limitPct || sum.unknownMatches.length > 0
    return { kind: 'foreseen' as const, effects, sum, limitPct, needsForce }
  }
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...list, middleware: gates.admin }, (c) => c.json({ settings: settings.list().map(settingJson) }, 200))
    .openapi({ ...set, middleware: gates.admin }, async (c) => {
      const { key } = c.req.valid('param')
      const { value: to, force, reason } = c.req.valid('json')
      const actor = c.var.caller.userId
      const isDryRun = c.req.valid('query').dryRun === 'true'
      const refuse = async <Status extends 400 | 404 | 409>(refusal: Answer<Status>) => {
        const change = { action: 'setting.set', subject: key, before: null, after: to }
        if (!isDryRun) await audit.record({ actor, ...change, reason, outcome: refusal.code })
        return fail(c, refusal)
      }
      const missing = await missingTarget(scopeOf(key), catalogue)
      if (missing !== null) return refuse(notFound(missing))
      const foreseen = await foresee(key, to)
      if (foreseen.kind !== 'foreseen') return refuse(refused(foreseen))
      const { effects, sum, limitPct, needsForce } = foreseen
      if (isDryRun) {
        const { maxMovePct, closes } = sum
        const matches = effects.filter(({ moves, known }) => moves.length > 0 || !known).map(effectJson)
        return c.json({ key, dryRun: true as const, maxMovePct, closes, needsForce, matches }, 200)
      }
      if (needsForce && !force) return refuse(answerWith('RULES_MOVE_PRICES', { facts: { ...sum, limitPct } }))
      const outcome = await settings.set({ key, value: to, by: actor, reason })
      return outcome.kind === 'set' ? c.json(settingJson(outcome.entry), 200) : refuse(refused(outcome))
    })
    .openapi({ ...multiplierKeys, middleware: gates.admin }, (c) => c.json({ keys: [...MULTIPLIER_KEYS] }, 200))
}

/** A mode for a match or player that does not exist would be a brake that holds nothing. */
async function missingTarget(scope: ReturnType<typeof scopeOf>, catalogue: Deps['catalogue']) {
  if (scope === null) return null
  if ('matchId' in scope) return (await catalogue.match(scope.matchId)) === null ? 'match' : null
  return (await catalogue.instrument(scope.instrumentId)) === null ? 'instrument' : null
}

/** The answer to a setting that was not set. */
const refused = (outcome: Exclude<SettingOutcome, { kind: 'set' }>) =>
  outcome.kind === 'unknown' ? notFound('setting') : invalid('value', outcome.problem)

export const updatedJson = ({ updatedAt, updatedBy }: SettingEntry) => ({
  updatedAt: updatedAt === null ? null : timestamp(updatedAt),
  updatedBy,
})

function settingJson(entry: SettingEntry): z.output<typeof SettingBody> {
  const { key, setting } = entry
  const common = { key, value: entry.value, default: setting.default, description: setting.description }
  switch (setting.type) {
    case 'number': {
      const { type, min, max, decimals } = setting
      return { ...common, type, min, max, decimals, ...updatedJson(entry) }
    }
    case 'boolean':
      return { ...common, type: setting.type, ...updatedJson(entry) }
    case 'choice':
      return { ...common, type: setting.type, options: [...setting.options], ...updatedJson(entry) }
  }
}
