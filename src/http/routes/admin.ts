/** What operators see and set (specification 4.5): flags, settings, the audit log, the books. All behind the admin gate. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { decimal } from '../../../actors/kernel/micros.ts'
import { MULTIPLIER_KEYS } from '../../../actors/market/scoring-settings.ts'
import type { SettingEntry, SettingOutcome } from '../../../db/settings.ts'
import { answerWith, errors, fail, invalid, notFound } from '../answers.ts'
import { ADMIN, BODY, INPUT } from '../error-codes.ts'
import { ACCESS_SECURITY, type Gates, type SignedInEnv } from '../gates.ts'
import { timestamp } from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import { FixtureIdInput, json, timestampText } from '../schemas.ts'

const updated = {
  updatedAt: timestampText.nullable().openapi({ description: 'Null while it has its default.' }),
  updatedBy: z.string().nullable().openapi({ description: 'The username of the admin who set it.' }),
}
const value = z.union([z.number(), z.boolean(), z.string()])

const FlagBody = z
  .object({ key: z.string(), enabled: z.boolean(), default: z.boolean(), description: z.string(), ...updated })
  .openapi('Flag')

const SettingBody = z
  .object({
    key: z.string().openapi({ example: 'trading.hold_secs' }),
    value,
    type: z.enum(['number', 'boolean', 'choice']),
    default: value,
    description: z.string(),
    min: z.number().optional().openapi({ description: 'Of a number.' }),
    max: z.number().optional(),
    decimals: z.int().optional().openapi({ description: 'Of a number: how many it may have; 0 for whole ones.' }),
    options: z.array(z.string()).optional().openapi({ description: 'Of a choice.' }),
    ...updated,
  })
  .openapi('Setting')

const flags = createRoute({
  method: 'get',
  path: '/api/admin/flags',
  tags: ['Admin'],
  summary: 'All feature flags',
  description: 'With what each does, its default, and who set it last.',
  security: ACCESS_SECURITY,
  responses: { 200: json(z.object({ flags: z.array(FlagBody) }), 'As in force.'), ...errors(...ADMIN) },
})

const KeyPath = z.object({ key: z.string().min(1).max(100).openapi({ example: 'coming_soon' }) })

const setFlag = createRoute({
  method: 'put',
  path: '/api/admin/flags/{key}',
  tags: ['Admin'],
  summary: 'Set a flag',
  description: 'In force here at once, in every other process within a second.',
  security: ACCESS_SECURITY,
  request: {
    params: KeyPath,
    body: { required: true, content: { 'application/json': { schema: z.object({ enabled: z.boolean() }) } } },
  },
  responses: { 200: json(FlagBody, 'Set.'), ...errors(...ADMIN, ...BODY, 'NOT_FOUND') },
})

const settingsList = createRoute({
  method: 'get',
  path: '/api/admin/settings',
  tags: ['Admin'],
  summary: 'All settings',
  description: 'The catalogue, and the trading modes of single matches and players that are not open.',
  security: ACCESS_SECURITY,
  responses: { 200: json(z.object({ settings: z.array(SettingBody) }), 'As in force.'), ...errors(...ADMIN) },
})

const setSetting = createRoute({
  method: 'put',
  path: '/api/admin/settings/{key}',
  tags: ['Admin'],
  summary: 'Set a setting',
  description:
    'In force here at once, in every other process within a second, in running matches too. The trading mode of one match ' +
    'or player is set as `trading.mode.match.<fixture id>` or `trading.mode.instrument.<instrument id>`.',
  security: ACCESS_SECURITY,
  request: {
    params: KeyPath,
    body: { required: true, content: { 'application/json': { schema: z.object({ value }) } } },
  },
  responses: { 200: json(SettingBody, 'Set.'), ...errors(...ADMIN, ...BODY, 'NOT_FOUND') },
})

const multiplierKeys = createRoute({
  method: 'get',
  path: '/api/admin/settings/scoring/multiplier-keys',
  tags: ['Admin'],
  summary: 'The keys of what multiplies the points of each action, by position',
  description: 'Each is a setting that `PUT /api/admin/settings/{key}` takes.',
  security: ACCESS_SECURITY,
  responses: { 200: json(z.object({ keys: z.array(z.string()) }), 'All of them.'), ...errors(...ADMIN) },
})

const EntryBody = z
  .object({
    id: z.int(),
    at: timestampText,
    actor: z.object({ userId: z.string(), username: z.string().nullable() }).nullable().openapi({
      description: 'Who did it; null for the house itself.',
    }),
    action: z.string().openapi({ example: 'setting.set' }),
    subject: z.string().openapi({ example: 'trading.hold_secs' }),
    before: z.unknown(),
    after: z.unknown(),
  })
  .openapi('AuditEntry')

const auditLog = createRoute({
  method: 'get',
  path: '/api/admin/audit',
  tags: ['Admin'],
  summary: 'What operators did, the latest first',
  description:
    'Every write of an admin leaves an entry, in the transaction of the write where there is one. Nothing removes ' +
    'entries.',
  security: ACCESS_SECURITY,
  request: {
    query: z.object({
      limit: z.coerce.number().int().min(1).max(100).default(50),
      cursor: z
        .string()
        .regex(/^\d{1,15}$/, 'must be a `nextCursor`')
        .optional(),
    }),
  },
  responses: {
    200: json(z.object({ entries: z.array(EntryBody), nextCursor: z.string().nullable() }), 'A page.'),
    ...errors(...ADMIN, ...INPUT),
  },
})

const AuditBody = z
  .object({
    balanced: z.boolean().openapi({ description: 'Whether all three counts of trouble are zero.' }),
    wallets: z.int(),
    imbalance: z
      .number()
      .openapi({ description: 'Σ of all entries of all accounts: 0, or money appeared or vanished.' }),
    unbalancedTransactions: z.int(),
    mismatchedWallets: z.int().openapi({ description: 'Wallets whose balance is not the sum of their entries.' }),
  })
  .openapi('LedgerAudit')

const audit = createRoute({
  method: 'get',
  path: '/api/admin/ledger/audit',
  tags: ['Admin'],
  summary: 'Whether the books balance',
  description: 'Adds up every entry there is, which takes a while on a large ledger.',
  security: ACCESS_SECURITY,
  responses: { 200: json(AuditBody, 'What was found.'), ...errors(...ADMIN) },
})

const EndBody = z.object({ matchId: z.int(), outcome: z.enum(['settle', 'void']) })

const endMatch = createRoute({
  method: 'post',
  path: '/api/admin/matches/{id}/end',
  tags: ['Admin'],
  summary: 'End a match that does not end by itself',
  description:
    'For a fixture whose feed is gone for good. Open positions are settled at the standing prices, or void with ' +
    '`outcome: "void"`, which gives every margin back. It cannot be taken back.',
  security: ACCESS_SECURITY,
  request: {
    params: z.object({ id: FixtureIdInput }),
    body: {
      required: true,
      content: { 'application/json': { schema: z.object({ outcome: z.enum(['settle', 'void']) }) } },
    },
  },
  responses: { 200: json(EndBody, 'It is settling.'), ...errors(...ADMIN, ...BODY, 'NOT_FOUND', 'MATCH_OVER', 'BUSY') },
})

const OVER = answerWith('MATCH_OVER')

/** The match could not be told. */
const UNTOLD = answerWith('BUSY', { retryAfterSecs: 1 })

export function adminRoutes({ wallets, settings, audit: log, desk }: HttpDeps, gates: Gates) {
  return new OpenAPIHono<SignedInEnv>()
    .openapi({ ...flags, middleware: gates.admin }, (c) => c.json({ flags: settings.listFlags().map(flagJson) }, 200))
    .openapi({ ...setFlag, middleware: gates.admin }, async (c) => {
      const { key } = c.req.valid('param')
      const outcome = await settings.setFlag({ key, value: c.req.valid('json').enabled, by: c.var.caller.userId })
      if (outcome.kind !== 'set') return fail(c, turnedDown(outcome, 'flag'))
      return c.json(flagJson(outcome.entry), 200)
    })
    .openapi({ ...settingsList, middleware: gates.admin }, (c) =>
      c.json({ settings: settings.list().map(settingJson) }, 200),
    )
    .openapi({ ...setSetting, middleware: gates.admin }, async (c) => {
      const { key } = c.req.valid('param')
      const outcome = await settings.set({ key, value: c.req.valid('json').value, by: c.var.caller.userId })
      if (outcome.kind !== 'set') return fail(c, turnedDown(outcome, 'setting'))
      return c.json(settingJson(outcome.entry), 200)
    })
    .openapi({ ...multiplierKeys, middleware: gates.admin }, (c) => c.json({ keys: [...MULTIPLIER_KEYS] }, 200))
    .openapi({ ...auditLog, middleware: gates.admin }, async (c) => {
      const { limit, cursor } = c.req.valid('query')
      const found = await log.list(limit + 1, cursor === undefined ? null : Number(cursor))
      const page = found.slice(0, limit)
      const last = page.at(-1)
      const nextCursor = found.length > limit && last !== undefined ? String(last.id) : null
      return c.json({ entries: page.map(entryJson), nextCursor }, 200)
    })
    .openapi({ ...endMatch, middleware: gates.admin }, async (c) => {
      const { id } = c.req.valid('param')
      const { outcome } = c.req.valid('json')
      const actor = c.var.caller.userId
      await log.record({ actor, action: 'match.end', subject: String(id), before: null, after: outcome })
      const ended = await desk.end(id, outcome === 'void' ? 'void' : 'full_time')
      if (ended === 'unknown') return fail(c, notFound('match'))
      if (ended === 'over') return fail(c, OVER)
      if (ended === 'elsewhere') return fail(c, UNTOLD)
      return c.json({ matchId: id, outcome }, 200)
    })
    .openapi({ ...audit, middleware: gates.admin }, async (c) => {
      const found = await wallets.auditLedger()
      const { wallets: count, imbalanceMicros, unbalancedTransactions, mismatchedWallets } = found
      const balanced = imbalanceMicros === 0 && unbalancedTransactions === 0 && mismatchedWallets === 0
      const imbalance = decimal(imbalanceMicros)
      return c.json({ balanced, wallets: count, imbalance, unbalancedTransactions, mismatchedWallets }, 200)
    })
}

const turnedDown = (outcome: Exclude<SettingOutcome, { kind: 'set' }>, what: 'flag' | 'setting') =>
  outcome.kind === 'unknown' ? notFound(what) : invalid('value', outcome.problem)

const changed = ({ updatedAt, updatedBy }: SettingEntry) => ({
  updatedAt: updatedAt === null ? null : timestamp(updatedAt),
  updatedBy,
})

const flagJson = (entry: SettingEntry): z.output<typeof FlagBody> => ({
  key: entry.key,
  enabled: entry.value === true,
  default: entry.setting.default === true,
  description: entry.setting.description,
  ...changed(entry),
})

function settingJson(entry: SettingEntry): z.output<typeof SettingBody> {
  const { key, setting } = entry
  const common = { key, value: entry.value, default: setting.default, description: setting.description }
  switch (setting.type) {
    case 'number': {
      const { type, min, max, decimals } = setting
      return { ...common, type, min, max, decimals, ...changed(entry) }
    }
    case 'boolean':
      return { ...common, type: setting.type, ...changed(entry) }
    case 'choice':
      return { ...common, type: setting.type, options: [...setting.options], ...changed(entry) }
  }
}

type Entry = Awaited<ReturnType<HttpDeps['audit']['list']>>[number]

const entryJson = ({
  id,
  at,
  actor,
  actorName,
  action,
  subject,
  before,
  after,
}: Entry): z.output<typeof EntryBody> => ({
  id,
  at: timestamp(at),
  actor: actor === null ? null : { userId: actor, username: actorName },
  action,
  subject,
  before,
  after,
})
