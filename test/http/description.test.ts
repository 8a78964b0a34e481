import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from '@hono/zod-openapi'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { REFERRAL_REWARD } from '../../actors/kernel/limits.ts'
import { HOUR_MS } from '../../actors/kernel/world.ts'
import { decimal, lots, price } from '../../actors/kernel/micros.ts'
import { BADGES } from '../../actors/community/badges.ts'
import { marginFor, pnlAt, washoutPrice } from '../../actors/position/position.ts'
import { createJudge } from '../../ops/rehearse/fuzz/judge.ts'
import { placed } from '../../rooms/feed/price-frame-description.ts'
import { FEATURES } from '../../src/features/index.ts'
import { apiErrors, type ErrorTable } from '../../src/http/error-facts.ts'
import { operations, sample } from './api-document.ts'
import { alice, apiJudge, NOW, openHttpRig, order, PLAYER } from './http-rig.ts'
import { concrete, KEY } from './operations.ts'

const Described = z.object({ content: z.object({ 'application/json': z.object({ schema: z.instanceof(z.ZodType) }) }) })

async function openDescribed() {
  const rig = await openHttpRig({ role: 'admin' })
  const routes = Object.entries((await apiJudge()).document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, route]) => ({ method: method.toUpperCase(), path, ...route })),
  )
  return { ...rig, routes }
}

const ERROR_CODES = apiErrors(Object.assign({}, ...FEATURES.map(({ errors }) => errors)) as ErrorTable, []).table

const PUSH_KEYS = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
}

/** The fields of all steps of signing in. */
const SIGN_IN_STEPS = {
  displayName: 'Alice',
  count: 2,
  idToken: 'token',
  nonce: 'nonce',
  registrationTicket: 'ticket',
  otp: '123456',
  username: 'ada',
  firstName: 'Ada',
  code: 'bob5code00',
  name: 'Grace',
  districtId: 1,
}

/** A valid body: of the fields below, those that the route describes. */
function bodyFor(path: string, known: readonly string[]): unknown {
  return Object.fromEntries(Object.entries(fieldsFor(path)).filter(([name]) => known.includes(name)))
}

const timestampAt = (ms: number): string => new Date(NOW + ms).toISOString()

function fieldsFor(path: string): Readonly<Record<string, unknown>> {
  if (path.endsWith('/what-if')) return { settings: { 'trading.hold_secs': 60 }, recordings: ['goal-feast'] }
  if (path.endsWith('{id}/void')) return { reason: 'checked' }
  if (path.includes('positions')) return order
  if (path.endsWith('/notes')) return { text: 'asked for a refund' }
  if (path === '/api/push') return { endpoint: 'https://push.example/1', keys: PUSH_KEYS, kinds: ['stop'] }
  if (path === '/api/me') return { confirm: 'alice', hiddenFromBoards: true }
  if (path === '/api/me/limits') return { dailyLoss: 600.5, coolOffUntil: null, excludedUntil: null }
  if (path === '/api/me/follows') return { kinds: ['goal'] }
  if (path === '/api/me/alerts') return { instrumentId: PLAYER, level: 210 }
  if (path === '/api/wallet/refill') return { purse: 'practice' }
  if (path === '/api/leagues') {
    return { name: 'Friends', startsAt: timestampAt(0), endsAt: timestampAt(HOUR_MS), matches: 'all' }
  }
  if (path.startsWith('/api/admin/tournaments')) {
    return { name: 'Friday Night Cup', startsAt: timestampAt(HOUR_MS) }
  }
  if (path === '/api/leagues/join') return { code: '9f2c4b7d01ae' }
  if (path === '/api/keys') return { name: 'Bot', scopes: ['read'] }
  if (path.endsWith('/anchors')) return { anchors: [{ playerId: 7, price: 240 }] }
  if (path.endsWith('{id}/status')) return { status: 'active', reason: 'checked' }
  if (path.includes('/webhooks')) return { url: 'https://hooks.example/events', state: 'paused' }
  if (path.includes('/admin/'))
    return { enabled: true, value: 60, role: 'admin', fixtureId: 'goal-feast', outcome: 'void' }
  return SIGN_IN_STEPS
}

const DOWNLOADS: ReadonlySet<string> = new Set(['application/octet-stream', 'application/x-ndjson'])

describe('the API description', () => {
  it('describes every mounted route, and no other', async () => {
    const { app, routes } = await openDescribed()
    // The pages, their files, the texts for people and `/metrics` are not described.
    const isOther = (path: string): boolean =>
      /^\/($|web\/|join|watch\/|league\/|app\.webmanifest|worker\.js|favicon|\.well-known\/|security$|verify$|metrics$)/.test(
        path,
      )
    const mounted = app.routes.filter(({ method, path }) => method !== 'ALL' && !isOther(path))
    const names = new Set(mounted.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`))
    expect(routes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([...names].toSorted())
  })

  it('has every request of the runbook, and a key may send it', async () => {
    const { routes } = await openDescribed()
    const runbook = readFileSync(new URL('../../ops/runbook.md', import.meta.url), 'utf8').replaceAll(/\n */g, ' ')
    const requests = [...runbook.matchAll(/adm(?: -X (\w+))? "?\$API(\/api\/[^\s`"?]*(?:<[^>]*>[^\s`"?]*)*)/g)]
    expect(requests.length).toBeGreaterThan(10)
    for (const [asked, method = 'GET', path = ''] of requests) {
      const isAsked = (described: string): boolean =>
        new RegExp(`^${described.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path.replaceAll(/<[^>]*>/g, 'x'))
      const found = routes.find((route) => route.method === method && isAsked(route.path))
      expect(
        found?.security?.some((way) => 'personalKey' in way),
        asked,
      ).toBe(true)
    }
  })

  it('[H2] every answer has a status and a body that its route describes', async () => {
    const rig = await openDescribed()
    const registered = rig.app.openAPIRegistry.definitions.filter((definition) => definition.type === 'route')
    for (const { method, path, requestBody, responses } of rig.routes) {
      const endsTheSession = /logout|sessions\/\{id\}|^DELETE \/api\/me$/.test(`${method} ${path}`)
      const { send, asAlice, keyRig } = endsTheSession ? await openDescribed() : rig
      if (path.endsWith('/keys/{id}')) await keyRig.keyOf(alice, ['read'], { id: KEY })
      const known = Object.keys(requestBody?.content['application/json']?.schema['properties'] ?? {})
      const body = bodyFor(path, known)
      const url = `${concrete(path)}${method === 'POST' && path.endsWith('/uploads') ? '?name=derby' : ''}`
      const response = await (method === 'GET' ? asAlice(url) : send(method, url, body))
      const name = `${method} ${path} answers ${response.status}`
      expect(response.ok, name).toBe(true)
      expect(Object.keys(responses), name).toContain(String(response.status))
      const route = registered.find(
        (definition) => definition.route.path === path && definition.route.method === method.toLowerCase(),
      )
      const declared: unknown = route?.route.responses[response.status]
      const type = response.headers.get('content-type')?.split(';')[0] ?? ''
      if (/^(text|image)\//.test(type) || DOWNLOADS.has(type)) {
        expect(declared, name).toHaveProperty(['content', type])
        continue
      }
      const described = Described.parse(declared)
      const { schema } = described.content['application/json']
      const json: unknown = await response.json()
      // A schema drops unknown fields, so an equal value means that every field is described.
      expect(schema.parse(json), name).toEqual(json)
    }
  })

  it('every route has a summary, a description and a described tag', async () => {
    const { document } = await apiJudge()
    const topics = new Set(document.tags.map(({ name }) => name))
    for (const [name, { summary, description, tags }] of operations(document)) {
      expect(summary, name).toMatch(/^[A-Z].+[^.]$/)
      expect(description, name).toMatch(/^[A-Z`].+\.$/s)
      expect(
        tags?.every((tag) => topics.has(tag)),
        name,
      ).toBe(true)
    }
    const used = new Set([...operations(document).values()].flatMap(({ tags = [] }) => tags))
    expect([...topics].filter((topic) => !used.has(topic))).toEqual([])
  })

  it('every operation that changes something says that an origin may be refused', async () => {
    const { document } = await apiJudge()
    const silent = [...operations(document)].filter(
      ([name, { responses }]) => !name.startsWith('get ') && !JSON.stringify(responses['403'] ?? {}).includes('ORIGIN'),
    )
    expect(silent.map(([name]) => name)).toEqual([])
  })

  it('every operation has a name of its own, as a method of a client would', async () => {
    const { routes } = await openDescribed()
    const names = routes.map(({ operationId }) => operationId)
    expect(names.filter((name) => !/^[a-z]+([A-Z][a-z]+)*$/.test(name ?? ''))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })

  it('what is to go is marked, and says so in its answers; every answer names the version', async () => {
    const { asAlice } = await openHttpRig()
    const { routes } = await openDescribed()
    const legacy = routes.filter(({ deprecated }) => deprecated === true).map(({ path }) => path)
    expect(legacy.toSorted()).toEqual(['/api/leaderboard/friends', '/api/portfolio', '/api/trades'])
    for (const path of legacy) {
      const { headers } = await asAlice(path)
      expect(headers.get('deprecation'), path).toMatch(/^@\d{10}$/)
    }
    const { headers } = await asAlice('/api/wallet')
    expect([headers.get('deprecation'), headers.get('x-api-version')]).toEqual([null, '1'])
  })

  it('every default is a value that the field takes, in the units of the wire', async () => {
    const { document } = await apiJudge()
    const schemas = function* (value: unknown): Generator<object> {
      if (typeof value !== 'object' || value === null) return
      if ('default' in value && 'type' in value && typeof value.type !== 'object') yield value
      for (const part of Object.values(value)) yield* schemas(part)
    }
    const found = [...schemas(document.paths)].filter((schema) => 'default' in schema && !('key' in schema))
    expect(found.length).toBeGreaterThan(50)
    const ajv = new Ajv2020({ strict: false })
    const wrong = found.filter((schema) => 'default' in schema && !ajv.validate(schema, schema.default))
    expect(wrong).toEqual([])
  })

  it('[T20] that news moves, holds or suspends anything is said of the option alone that makes it so', async () => {
    const { document } = await apiJudge()
    const texts: string[] = []
    const collect = (value: unknown, name = ''): void => {
      if (typeof value === 'string') return void (name === 'description' && texts.push(...value.split(/(?<=\.)\s/)))
      if (typeof value === 'object' && value !== null) for (const [key, one] of Object.entries(value)) collect(one, key)
    }
    collect(document)
    const ofNews = texts.filter((text) => /\bnews (has|may|can) |before news|suspended after|being priced/i.test(text))
    expect(ofNews.length).toBeGreaterThan(2)
    expect(ofNews.filter((text) => !/\bwith (`trading\.)?protection\b/i.test(text))).toEqual([])
  })

  it('[D1] every kind of ledger entry is explained', async () => {
    const { kind } = z
      .object({ properties: z.object({ kind: z.object({ enum: z.array(z.string()), description: z.string() }) }) })
      .parse((await apiJudge()).document.components.schemas['LedgerEntry']).properties
    expect(kind.enum.filter((one) => !kind.description.includes(`\`${one}\`: `))).toEqual([])
  })

  it('every error code is answered by a route, has an example, and one status', async () => {
    const { document } = await apiJudge()
    const answered = new Map<string, Set<string>>()
    for (const { responses } of operations(document).values()) {
      for (const [status, { content }] of Object.entries(responses)) {
        for (const code of Object.keys(content?.['application/json']?.examples ?? {})) {
          answered.set(code, (answered.get(code) ?? new Set()).add(status))
        }
      }
    }
    // No described route answers with it.
    const elsewhere = new Set(['METHOD_NOT_ALLOWED'])
    for (const [code, { status, error }] of Object.entries(ERROR_CODES)) {
      if (elsewhere.has(code)) continue
      expect([...(answered.get(code) ?? [])], code).toEqual([String(status)])
      expect(sample(document, code)).toMatchObject({ code, error })
    }
  })

  it('types the facts of an error by its code', async () => {
    const { document } = await apiJudge()
    const { schemas } = document.components
    const Union = z.object({
      oneOf: z.array(z.object({ $ref: z.string() })),
      discriminator: z.object({ propertyName: z.literal('code'), mapping: z.record(z.string(), z.string()) }),
    })
    const { oneOf, discriminator } = Union.parse(schemas['Error'])
    expect(Object.keys(discriminator.mapping)).toEqual(Object.keys(ERROR_CODES))
    expect(Object.values(discriminator.mapping)).toEqual(oneOf.map(({ $ref }) => $ref))
    expect(schemas['InsufficientMarginError']).toMatchObject({
      required: ['error', 'code', 'requestId', 'required', 'available', 'maxLotSize'],
    })
    for (const [name, { responses }] of operations(document)) {
      for (const { content } of Object.values(responses)) {
        const media = content?.['application/json']
        const codes = Object.keys(media?.examples ?? {})
        if (codes.length > 1) {
          expect(Object.keys(Union.parse(media?.schema).discriminator.mapping), name).toEqual(codes)
        }
      }
    }
  })

  it('the numbers and names of the examples agree with the rules', async () => {
    const { document } = await apiJudge()
    const shown = <Shape extends z.ZodRawShape>(route: `${string} ${string}`, status: string, shape: Shape) =>
      z.object(shape).parse(operations(document).get(route)?.responses[status]?.content?.['application/json']?.example)
    const [n, text] = [z.number(), z.string()]

    const prices = { currentPrice: n, live_base_price: n, k_mod: n, net_position_imbalance: n }
    const player = shown('get /api/instruments/{id}', '200', prices)
    expect(player.currentPrice).toBeCloseTo(player.live_base_price + player.k_mod * player.net_position_imbalance, 6)

    const figures = { fillPrice: n, impact: n, currentPrice: n, margin: n, washoutPrice: n, pnlAtTakeProfit: n }
    const { fillPrice, impact, currentPrice, ...quote } = shown('post /api/positions/quote', '200', figures)
    expect(fillPrice).toBeCloseTo(currentPrice + impact, 6)
    const half = { direction: 'long', lots: lots(500_000), openPrice: price(Math.round(fillPrice * 1e6)) } as const
    expect(quote).toEqual({
      margin: decimal(marginFor(half.openPrice, half.lots)),
      washoutPrice: decimal(washoutPrice(half) ?? 0),
      pnlAtTakeProfit: decimal(pnlAt(half, price(220_000_000))),
    })

    const badge = z.object({ id: text, name: text, description: text })
    const badges = shown('get /api/achievements', '200', { earned: z.array(badge), locked: z.array(badge) })
    for (const one of [...badges.earned, ...badges.locked]) expect(BADGES).toContainEqual(expect.objectContaining(one))

    const { seed, seedHash } = shown('post /api/spinner/run', '200', { seed: text, seedHash: text })
    expect(seedHash).toBe(createHash('sha256').update(seed).digest('hex'))

    const { code, url, reward } = shown('post /api/referrals/invites', '201', { code: text, url: text, reward: n })
    expect([url.endsWith(`/join?ref=${code}`), reward]).toEqual([true, decimal(REFERRAL_REWARD)])
  })

  it('the page shows every route, error, message and frame field, and loads nothing from other hosts', async () => {
    const { app } = await openHttpRig()
    const response = await app.request('/api/docs')
    const html = await response.text()
    const { document } = await apiJudge()
    for (const path of Object.keys(document.paths)) expect(html, path).toContain(`<code>${path}</code>`)
    for (const code of Object.keys(ERROR_CODES)) expect(html).toContain(`id="error-${code}"`)
    for (const { name } of placed()) expect(html).toContain(`<code>${name}</code>`)
    for (const name of ['subscribe', 'subscribed', 'account', 'shutdown'])
      expect(html).toContain(`<code>${name}</code>`)
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none'; /)
    expect(policy).not.toMatch(/unsafe|https?:/)
    expect(html).not.toMatch(/(src|href)="(https?:)?\/\//)
    expect(html).not.toMatch(/ style="| on\w+="/)
    const loaded = [...html.matchAll(/(?:src|<link [^>]*href)="([^"]+)"/g)].map(([, file = '']) => file)
    expect(loaded.length).toBeGreaterThan(2)
    for (const file of loaded) expect((await app.request(file)).status, file).toBe(200)
    const targets = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    const links = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
    expect(links.filter((id) => !targets.has(id))).toEqual([])
  })

  it('the quickstart says what to do on each refusal of an order; only a demo offers to try', async () => {
    const { document } = await apiJudge()
    const { app } = await openHttpRig()
    const [, quickstart = ''] = (await (await app.request('/api/docs')).text()).split('<section id="quickstart">')
    const advice = quickstart.slice(0, quickstart.indexOf('</section>'))
    for (const path of ['/api/positions/open', '/api/positions/{id}/close']) {
      const refusals = Object.values(document.paths[path]?.['post']?.responses ?? {}).flatMap(({ content }) =>
        Object.keys(content?.['application/json']?.examples ?? {}),
      )
      expect(refusals.length).toBeGreaterThan(10)
      for (const code of refusals) expect(advice, code).toContain(`<code>${code}</code>`)
    }
    expect(quickstart).toContain('class="try"')
    expect(advice).toContain('/api/auth/dev')
    const production = await openHttpRig({ production: true })
    const page = await (await production.app.request('/api/docs')).text()
    expect(page).not.toContain('class="try"')
    expect(page).not.toContain('/api/auth/dev')
  })

  it('[H2] an answer that is not described fails the check', async () => {
    const { document } = await apiJudge()
    const { judge } = createJudge(document)
    const headers = ['x-request-id', 'ratelimit', 'content-type']
    const answer = { method: 'GET', path: '/api/wallet', status: 200, contentType: 'application/json', headers }
    const sums = { balance: 1, marginUsed: 0, unrealizedPnl: 0, equity: 1, freeMargin: 1 }
    const wallet = { purse: 'main', ...sums, currency: 'UNIT' }
    const error = { error: 'unauthorized', code: 'UNAUTHORIZED', requestId: '0197f2a0-77aa-7b31-9d44-5c6d7e8f9a0b' }
    expect(judge({ ...answer, body: wallet })).toBeNull()
    expect(judge({ ...answer, path: '/api/wallet?a=1', status: 401, body: error })).toBeNull()
    expect(judge({ ...answer, body: { ...wallet, secret: 1 } })).toContain('unevaluated')
    expect(judge({ ...answer, body: { ...wallet, currency: 'USD' } })).toContain('currency')
    expect(judge({ ...answer, status: 204, body: null })).toContain('does not declare 204')
    expect(judge({ ...answer, status: 401, body: { ...error, code: 'FORBIDDEN' } })).toContain('code')
    const opening = { ...answer, method: 'POST', path: '/api/positions/open', status: 409 }
    const moved = { ...error, code: 'PRICE_MOVED', currentPrice: 206.31, lastPublishedPrice: 206.3 }
    expect(judge({ ...opening, body: moved })).toBeNull()
    const { lastPublishedPrice: _, ...withoutFact } = moved
    const wrong = [withoutFact, { ...moved, currentPrice: '206.31' }, { ...moved, code: 'KEY_REUSED' }]
    for (const body of [...wrong, { ...moved, required: 1 }]) expect(judge({ ...opening, body })).toContain('must')
    expect(judge({ ...answer, contentType: 'text/html', body: '' })).toContain('text/html')
    expect(judge({ ...answer, path: '/api/nowhere', body: wallet })).toContain('not described')
    for (const stray of ['ETag', 'retry-after', 'Idempotent-Replayed', 'deprecation', 'WWW-Authenticate']) {
      expect(judge({ ...answer, headers: [stray], body: wallet })).toContain(stray)
    }
  })
})
