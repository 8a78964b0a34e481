import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { z } from '@hono/zod-openapi'
import { type FixtureId, fixtureId } from '../../actors/kernel/ids.ts'
import type { RuleEffect } from '../../actors/match/rule-change.ts'
import type { HttpDeps } from '../../src/http/ports.ts'
import { p } from '../support/fixtures.ts'
import { adminPorts } from './admin-ports.ts'
import { present } from '../../actors/kernel/assert.ts'
import type { ControlAction } from '../../db/audit-log.ts'
import { answered, ALICE, alice, away, FIXTURE, openHttpRig, PLAYER, POSITION, SESSION } from './http-rig.ts'

const LEDGER = '/api/admin/ledger/audit'

describe('admin routes', () => {
  it('[H8] refuses a demoted admin at once, even with a valid token', async () => {
    const { asAlice } = await openHttpRig({
      role: 'admin',
      deps: { accounts: { ...(await openHttpRig()).deps.accounts, find: async () => alice } },
    })
    expect((await asAlice('/api/admin/flags')).status).toBe(403)
  })

  it.each([undefined, 'application/json', 'text/plain;charset=UTF-8'])(
    'all replays stop without a body, whatever type it is said to have: %s',
    async (type) => {
      const { asAlice } = await openHttpRig({ role: 'admin' })
      const headers = type === undefined ? {} : { 'content-type': type }
      const stop = (body?: string) =>
        asAlice('/api/admin/gameplay-bot/stop', { method: 'POST', headers, ...(body === undefined ? {} : { body }) })
      expect((await stop()).status).toBe(200)
      expect((await stop('')).status).toBe(200)
      expect((await stop('{"id":')).status).toBe(type === 'application/json' ? 400 : 415)
    },
  )

  it('a replay that ends otherwise is not stopped as asked', async () => {
    const id = '0197f2a0-0000-7000-8000-00000000ee01'
    const bot: HttpDeps['bot'] = {
      ...(await openHttpRig()).deps.bot,
      stop: async ({ ending }) => (ending === 'void' ? 'over' : [id]),
    }
    const { send } = await openHttpRig({ role: 'admin', deps: { bot } })
    const stop = (outcome: 'void' | 'settle') => answered(send('POST', '/api/admin/gameplay-bot/stop', { id, outcome }))
    expect(await stop('settle')).toMatchObject([200, { stopped: [id] }])
    expect(await stop('void')).toMatchObject([409, { code: 'MATCH_OVER' }])
  })

  it('the ledger audit tells whether the ledger balances, and what is wrong', async () => {
    const { asAlice } = await openHttpRig({ role: 'admin' })
    expect(await (await asAlice(LEDGER)).json()).toEqual({
      balanced: true,
      wallets: 2,
      imbalance: 0,
      purses: [
        { purse: 'main', wallets: 1, imbalance: 0 },
        { purse: 'practice', wallets: 1, imbalance: 0 },
        { purse: 'leagues', wallets: 1, imbalance: 0 },
      ],
      unbalancedTransactions: 0,
      mismatchedWallets: 0,
    })
    const fine = { wallets: 2, imbalanceMicros: 0, purses: [], unbalancedTransactions: 0, mismatchedWallets: 0 }
    const broken = await openHttpRig({ role: 'admin', audit: { ...fine, imbalanceMicros: -1 } })
    expect(await (await broken.asAlice(LEDGER)).json()).toMatchObject({ balanced: false, imbalance: -0.000001 })
    const purses = [
      { purse: 'main', wallets: 1, imbalanceMicros: 7 },
      { purse: 'practice', wallets: 1, imbalanceMicros: -7 },
    ] as const
    const mixed = await openHttpRig({ role: 'admin', audit: { ...fine, purses } })
    const found = await (await mixed.asAlice(LEDGER)).json()
    expect(found, 'money that changed purses').toMatchObject({ balanced: false, imbalance: 0 })
  })

  it('creates and deletes flags, within bounds and never the built-in one', async () => {
    const { asAlice, send } = await openHttpRig({ role: 'admin' })
    const put = (key: string) => answered(send('PUT', `/api/admin/flags/${key}`, { enabled: true }))
    const remove = (key: string) => answered(asAlice(`/api/admin/flags/${key}`, { method: 'DELETE' }))
    const longest = `0${'a'.repeat(63)}`
    for (const key of ['new.board_2-b', longest]) expect(await put(key)).toMatchObject([200, { key, enabled: true }])
    for (const bad of ['A', '_a', '.a', '-', 'a%20b', '%00', `${longest}a`, 'ä']) {
      expect([bad, await put(bad)]).toMatchObject([bad, [400, { issues: [{ path: 'key' }] }]])
      expect([bad, (await remove(bad))[0]]).toEqual([bad, 400])
    }
    expect(await remove('new.board_2-b')).toEqual([200, { deleted: true }])
    expect(await remove('new.board_2-b')).toMatchObject([404, { what: 'flag' }])
    expect(await remove('coming_soon')).toMatchObject([409, { code: 'FLAG_BUILT_IN' }])
    for (let n = 1; n < 200; n++) expect((await put(`flag-${n}`))[0]).toBe(200)
    expect(await put('one-more')).toMatchObject([409, { code: 'FLAG_LIMIT', max: 200 }])
  })

  describe('a setting that moves running prices', () => {
    const path = '/api/admin/settings/trading.impact_cap_pct'
    const effect = (to: number, known = true): RuleEffect => ({
      matchId: fixtureId(7),
      known,
      moves: [{ instrumentId: PLAYER, name: 'A. Striker', from: p(200), to: p(to) }],
      closes: 3,
    })

    it('[H17] says with dryRun what it would do, and changes nothing', async () => {
      const effects: RuleEffect[] = []
      const { asAlice, send } = await openHttpRig({ role: 'admin', deps: { effectsOf: async () => effects } })
      effects.push(effect(205), { ...effect(200), moves: [], closes: 0 })
      const foreseen = await send('PUT', `${path}?dryRun=true`, { value: 1 })
      const move = { instrumentId: PLAYER, name: 'A. Striker', from: 200, to: 205, movePct: 2.5 }
      expect([foreseen.status, await foreseen.json()]).toEqual([
        200,
        {
          key: 'trading.impact_cap_pct',
          dryRun: true,
          maxMovePct: 2.5,
          closes: 3,
          needsForce: true,
          matches: [{ matchId: 7, known: true, closes: 3, moves: [move] }],
        },
      ])
      expect(await (await asAlice('/api/admin/settings')).json()).toMatchObject({
        settings: expect.arrayContaining([expect.objectContaining({ key: 'trading.impact_cap_pct', value: 0.2 })]),
      })
      expect((await send('PUT', `${path}?dryRun=true`, { value: 'x' })).status).toBe(400)
    })

    it('[H17] is refused beyond the limit, and where a match cannot say, unless it is forced', async () => {
      const effects: RuleEffect[] = []
      const { send } = await openHttpRig({ role: 'admin', deps: { effectsOf: async () => effects } })
      effects.push(effect(205))
      expect(await answered(send('PUT', path, { value: 1 }))).toMatchObject([
        409,
        { code: 'RULES_MOVE_PRICES', maxMovePct: 2.5, limitPct: 2, moves: 1, closes: 3, unknownMatches: [] },
      ])
      expect((await send('PUT', path, { value: 1, force: true })).status).toBe(200)
      effects.splice(0, 1, effect(196))
      expect((await send('PUT', path, { value: 1.5 })).status).toBe(200)
      effects.splice(0, 1, effect(200, false))
      expect(await answered(send('PUT', path, { value: 2 }))).toMatchObject([409, { unknownMatches: [7] }])
    })

    it('[S23] is forced by any admin, however long ago they signed in', async () => {
      const rig = await openHttpRig({ role: 'admin', deps: { effectsOf: async () => [effect(205)] } })
      rig.world.pass(900_000)
      const cookie = `game_access=${await rig.tokens.issueAccess({ ...alice, role: 'admin' }, SESSION)}`
      const headers = { cookie, 'content-type': 'application/json' }
      const put = (to: string, body: object) =>
        answered(rig.app.request(to, { method: 'PUT', headers, body: JSON.stringify(body) }))
      expect(await put(path, { value: 1, force: true })).toMatchObject([200, { value: 1 }])
      const limit = '/api/admin/settings/rules.max_move_pct'
      expect(await put(limit, { value: 10 })).toMatchObject([200, { value: 10 }])
    })

    it('[H17] protection, by which goals count in full at once, is one', async () => {
      const ports = { ...adminPorts(alice), effectsOf: async () => [effect(205)] }
      const { send } = await openHttpRig({ role: 'admin', deps: ports, ports })
      expect(await answered(send('PUT', '/api/admin/settings/trading.protection', { value: 'on' }))).toMatchObject([
        409,
        { code: 'RULES_MOVE_PRICES', maxMovePct: 2.5 },
      ])
      const entry = { action: 'setting.set', subject: 'trading.protection', after: 'on', outcome: 'RULES_MOVE_PRICES' }
      expect(ports.actions).toMatchObject([{ actor: ALICE, ...entry }])
    })

    it('[H17] other settings ask no match', async () => {
      const effects: RuleEffect[] = []
      const { send } = await openHttpRig({ role: 'admin', deps: { effectsOf: async () => effects } })
      effects.push(effect(300))
      expect((await send('PUT', '/api/admin/settings/trading.hold_secs', { value: 60 })).status).toBe(200)
    })
  })

  it.each([
    ['PUT', '/api/admin/settings/trading.hold_secs', 'application/json', 200],
    ['PUT', '/api/admin/settings/trading.hold_secs', 'Application/JSON; charset=utf-8', 200],
    ['POST', '/api/admin/uploads?name=new-derby', 'application/octet-stream', 201],
    ['PUT', '/api/admin/anchors', 'text/csv', 200, 'playerId,price\n1,240\n'],
    ['POST', '/api/admin/gameplay-bot/stop', '', 200, ''],
    ['POST', '/api/admin/gameplay-bot/stop', 'text/plain', 200, ''],
  ])('[H8] a demoted admin is refused whose body was still on its way: %s %s %s', async (...of) => {
    const [method, path, type, done, text = '{"value":60}'] = of
    const rig = await openHttpRig({ role: 'admin' })
    let role = 'admin'
    const find = async () => ({ ...alice, role })
    const deps = { accounts: { ...rig.deps.accounts, find } }
    const { asAlice } = await openHttpRig({ role: 'admin', deps, ports: adminPorts(alice) })
    const pull = (body: ReadableStreamDefaultController<Uint8Array>) => {
      role = 'user'
      body.enqueue(new TextEncoder().encode(text))
      body.close()
    }
    const put = (body: string | ReadableStream) =>
      asAlice(path, {
        method,
        headers: { 'content-type': type, 'content-length': String(text.length) },
        body,
        duplex: 'half',
      })
    expect((await put(text)).status).toBe(done)
    expect((await put(new ReadableStream({ pull }, { highWaterMark: 0 }))).status).toBe(403)
  })

  it('[H10] what a handler refuses leaves an audit entry, and what is not understood leaves none', async () => {
    const ports = adminPorts(alice)
    const { asAlice, send } = await openHttpRig({ role: 'admin', deps: ports, ports })
    const missing = ALICE.replace('a', 'b')
    const remove = (path: string) => asAlice(`/api/admin/${path}`, { method: 'DELETE' })
    const put = (path: string, body: object) => send('PUT', `/api/admin/${path}`, body)
    const post = (path: string, body: object) => send('POST', `/api/admin/${path}`, body)
    const refused = [
      [await put('settings/no.such', { value: 1 }), 'setting.set', 'no.such', 'NOT_FOUND'],
      [
        await put('settings/trading.hold_secs', { value: 'x' }),
        'setting.set',
        'trading.hold_secs',
        'VALIDATION_FAILED',
      ],
      [await remove('flags/none'), 'flag.remove', 'flags.none', 'NOT_FOUND'],
      [await remove('flags/coming_soon'), 'flag.remove', 'flags.coming_soon', 'FLAG_BUILT_IN'],
      [await remove(`keys/${missing}`), 'key.revoke', missing, 'NOT_FOUND'],
      [await post(`users/${missing}/notes`, { text: 'x' }), 'user.note', missing, 'NOT_FOUND'],
      [await remove('uploads/playing'), 'recording.delete', 'playing', 'RECORDING_PLAYING'],
      [await remove('uploads/other'), 'recording.delete', 'other', 'NOT_FOUND'],
      [await post('uploads?name=full', {}), 'recording.upload', 'recording', 'RECORDING_LIMIT'],
      [await remove(`webhooks/${missing}`), 'webhook.delete', missing, 'NOT_FOUND'],
      [await post('webhooks', { url: 'https://full.example/' }), 'webhook.create', 'webhook', 'WEBHOOK_LIMIT'],
      [await post('reactions/9/9/retry', {}), 'reaction.retry', '9/9', 'NOT_FOUND'],
    ] as const
    expect(refused.map(([{ ok }]) => ok)).toEqual(refused.map(() => false))
    for (const unread of [
      await put('settings/trading.hold_secs?dryRun=true', { value: 'x' }),
      await put('flags/one', { enabled: 'x' }),
      await put('flags/one', { enabled: true, other: 1 }),
      await remove('keys/none'),
      await remove('flags/one?other=1'),
      await asAlice('/api/admin/flags/one', {
        method: 'PUT',
        body: '{',
        headers: { 'content-type': 'application/json' },
      }),
    ]) {
      expect(unread.status).toBe(400)
    }
    expect(ports.actions.map(({ actor, action, subject, outcome }) => [actor, action, subject, outcome])).toEqual(
      refused.map(([, ...entry]) => [ALICE, ...entry]),
    )
  })

  it('[H9] changes a role, but admins cannot remove their own', async () => {
    const { send } = await openHttpRig({ role: 'admin' })
    const role = (id: string) => `/api/admin/users/${id}/role`
    const made = await send('PUT', role(ALICE), { role: 'admin' })
    expect([made.status, await made.json()]).toMatchObject([200, { userId: ALICE, role: 'admin' }])
    expect((await send('PUT', role(ALICE), { role: 'user' })).status).toBe(409)
    expect((await send('PUT', role(ALICE.replace('a', 'b')), { role: 'user' })).status).toBe(404)
    expect((await send('PUT', role(ALICE), { role: 'owner' })).status).toBe(400)
    expect((await send('PUT', role('me'), { role: 'user' })).status).toBe(400)
  })

  it('[C1] gives a user a status for a reason, and not an admin their own', async () => {
    const { send } = await openHttpRig({ role: 'admin', deps: adminPorts(alice) })
    const put = (id: string, body: object) => send('PUT', `/api/admin/users/${id}/status`, body)
    const frozen = await put(ALICE, { status: 'frozen', reason: 'ten opens before goals' })
    expect([frozen.status, await frozen.json()]).toMatchObject([200, { userId: ALICE, status: 'frozen' }])
    expect(await answered(put(ALICE, { status: 'active', reason: 'me' }))).toMatchObject([409, { code: 'OWN_STATUS' }])
    expect((await put(ALICE.replace('a', 'b'), { status: 'frozen', reason: 'x' })).status).toBe(404)
    for (const body of [{ status: 'frozen' }, { status: 'frozen', reason: ' ' }, { status: 'gone', reason: 'x' }]) {
      expect((await put(ALICE, body)).status).toBe(400)
    }
  })

  it('[C7] shows one user with all that an operator needs, and no secret', async () => {
    const { asAlice } = await openHttpRig({ role: 'admin', deps: adminPorts(alice) })
    expect(await answered(asAlice(`/api/admin/users/${ALICE}`))).toMatchObject([
      200,
      {
        user: { userId: ALICE, status: 'active' },
        hiddenFromBoards: false,
        deletionDue: null,
        purses: [{ league: null }, { league: null }, { league: 'Harbour Friends' }],
        connections: [{ kind: 'invited', username: 'bob' }],
        alerts: [{ id: 7, finding: 'lockstep' }],
        deeds: [{ id: 8, action: 'user.note', by: 'alice', text: 'asked for a refund' }],
      },
    ])
    expect((await asAlice(`/api/admin/users/${ALICE.replace('a', 'b')}`)).status).toBe(404)
    expect((await asAlice('/api/admin/users/me')).status).toBe(400)
  })

  it('notes something about a user, for the audit log', async () => {
    const { send } = await openHttpRig({ role: 'admin', deps: adminPorts(alice) })
    const noted = await send('POST', `/api/admin/users/${ALICE}/notes`, { text: 'asked for a refund' })
    expect([noted.status, await noted.json()]).toEqual([200, { noted: true }])
    const missing = ALICE.replace('a', 'b')
    expect((await send('POST', `/api/admin/users/${missing}/notes`, { text: 'x' })).status).toBe(404)
    expect((await send('POST', `/api/admin/users/${ALICE}/notes`, { text: '' })).status).toBe(400)
  })

  it("[C8] shows the house's risk in units and per cent", async () => {
    const { asAlice } = await openHttpRig({ role: 'admin', deps: adminPorts(alice) })
    expect(await (await asAlice('/api/admin/feed')).json()).toMatchObject({
      faults: [{ reason: 'unreadable', matchId: 5, times: 12 }],
      quarantined: [{ matchId: 7, positions: 2, margin: 120 }],
    })
    expect(await (await asAlice('/api/admin/matches/7/positions')).json()).toEqual({ positions: [], nextCursor: null })
    expect(await (await asAlice('/api/admin/risk')).json()).toMatchObject({
      exposures: [{ matchId: 7, long: 1.5, short: 0.25, margin: 120, houseToday: -41.25 }],
      houseToday: -41.25,
      winners: [{ userId: ALICE, pnl: 41.25, closes: 3 }],
      markOuts: [{ openings: 8, after10s: 2, after60s: -0.5 }],
      groups: [{ finding: 'lockstep', users: [{ userId: ALICE }] }],
    })
  })

  it('[C4] voids a position for a reason, and audits what it did or why not', async () => {
    const ports = adminPorts(alice)
    const { send } = await openHttpRig({ role: 'admin', deps: ports, ports })
    const put = (id: string, reason: string) => send('POST', `/api/admin/positions/${id}/void`, { reason })
    expect(await answered(put(POSITION, 'beside the pitch'))).toMatchObject([
      200,
      {
        userId: ALICE,
        reason: 'beside the pitch',
        realizedPnl: 41.25,
        shortfall: 0.000001,
        position: { id: POSITION },
      },
    ])
    const again = await put(POSITION, 'again')
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const other = POSITION.replace('f1', 'f2')
    for (const [reason, status, code] of [
      ['x', 404, 'NOT_FOUND'],
      ['void', 409, 'POSITION_VOID'],
      ['key_reused', 409, 'KEY_REUSED'],
      ['busy', 503, 'BUSY'],
    ] as const) {
      expect(await answered(put(other, reason))).toMatchObject([status, { code }])
    }
    expect((await put(POSITION, ' ')).status).toBe(400)
    expect(ports.actions.map(({ action, outcome }) => [action, outcome ?? 'ok'])).toEqual([
      ['position.void', 'ok'],
      ['position.void', 'NOT_FOUND'],
      ['position.void', 'POSITION_VOID'],
      ['position.void', 'KEY_REUSED'],
      ['position.void', 'BUSY'],
    ])
    // [Y3] What is said of a user is kept beside the log, which keeps everything.
    expect(ports.actions[0]).toMatchObject({ words: { field: 'reason', about: ALICE, words: 'beside the pitch' } })
    expect(JSON.stringify(ports.actions.map(({ before, after }) => [before, after]))).not.toContain('pitch')
  })

  it('[H10] a void whose first request had no answer is audited by its repetition', async () => {
    const ports = adminPorts(alice)
    const [one] = await ports.audit.list(1, null)
    const outcome = () => (ports.actions.length === 0 ? 'BUSY' : 'ok')
    const list = async () => [{ ...present(one, 'an entry'), action: 'position.void', outcome: outcome() }]
    const deps = { ...ports, audit: { ...ports.audit, list } }
    const { send } = await openHttpRig({ role: 'admin', deps, ports: deps })
    expect((await send('POST', `/api/admin/positions/${POSITION}/void`, { reason: 'again' })).status).toBe(200)
    expect(ports.actions).toMatchObject([{ action: 'position.void', before: { realizedPnl: 41.25 } }])
    // What was audited with the void itself is not audited again.
    expect((await send('POST', `/api/admin/positions/${POSITION}/void`, { reason: 'beside the pitch' })).status).toBe(
      200,
    )
    expect(ports.actions).toHaveLength(1)
  })

  it('[J5] lists recordings page by page, and sends one compressed', async () => {
    const ports = adminPorts(alice)
    const { asAlice } = await openHttpRig({ role: 'admin', deps: ports, ports })
    const first = await (await asAlice('/api/admin/recordings?limit=2')).json()
    expect(first).toMatchObject({ recordings: [{ matchId: 3 }, { matchId: 2, commits: 600 }] })
    const { nextCursor } = z.object({ nextCursor: z.string() }).parse(first)
    const next = await (await asAlice(`/api/admin/recordings?limit=2&cursor=${nextCursor}`)).json()
    expect(next).toMatchObject({ recordings: [{ matchId: 1 }], nextCursor: null })
    const answer = await asAlice('/api/admin/recordings/2')
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="match-2.jsonl.br"')
    const text = brotliDecompressSync(Buffer.from(await answer.arrayBuffer())).toString()
    expect(text).toBe('{"recording":{"name":"match-2"}}\n{"n":1,"epoch":1,"kind":"clock","at":5}\n')
    expect(ports.actions).toMatchObject([{ action: 'recording.download', subject: '2' }])
    expect((await asAlice('/api/admin/recordings/4')).status).toBe(404)
    expect((await asAlice('/api/admin/recordings/4294967296')).status).toBe(400)
  })

  it('[J12] uploads are listed, taken, sent and removed', async () => {
    const ports = adminPorts(alice)
    const { asAlice, send } = await openHttpRig({ role: 'admin', deps: ports, ports })
    const uploads = '/api/admin/uploads'
    const chart = [{ name: 'A. Striker', prices: [200, 204.5] }]
    expect(await (await asAlice('/api/admin/recordings/2/chart')).json()).toEqual({ chart })
    const listed = await (await asAlice(uploads)).json()
    expect(listed).toMatchObject({ uploads: [{ name: 'old-derby', home: { score: 2 }, away: { score: null }, chart }] })
    const put = (name: string, body: unknown = {}) => answered(send('POST', `${uploads}?name=${name}`, body))
    expect(await put('spring')).toMatchObject([201, { name: 'spring', updates: 571 }])
    expect(await put('exists')).toMatchObject([409, { code: 'RECORDING_EXISTS' }])
    expect(await put('full')).toMatchObject([409, { code: 'RECORDING_LIMIT', max: 100 }])
    expect(await put('busy')).toMatchObject([503, { code: 'BUSY' }])
    expect(await put('spring', 'no object')).toMatchObject([
      400,
      { issues: [{ path: 'body', message: 'line 2 is not JSON' }] },
    ])
    for (const name of ['match-7', 'Spring', '../x', '-a', 'a'.repeat(49)]) {
      expect([name, (await put(encodeURIComponent(name)))[0]]).toEqual([name, 400])
    }
    const large = 'x'.repeat(100_000)
    expect(await put('spring', { large })).toMatchObject([201, {}])
    expect(await put('spring', { large: large.repeat(84) })).toMatchObject([413, { code: 'PAYLOAD_TOO_LARGE' }])
    expect((await send('PUT', '/api/admin/anchors', { large })).status).toBe(413)
    const sent = await asAlice(`${uploads}/old-derby`)
    expect([sent.headers.get('content-disposition'), await sent.text()]).toEqual([
      'attachment; filename="old-derby.jsonl.br"',
      'packed',
    ])
    const remove = (name: string) => answered(asAlice(`${uploads}/${name}?reason=a%20test`, { method: 'DELETE' }))
    expect(await remove('old-derby')).toEqual([200, { removed: 'old-derby' }])
    expect(await remove('playing')).toMatchObject([409, { code: 'RECORDING_PLAYING' }])
    expect(await remove('other')).toMatchObject([404, { what: 'recording' }])
  })

  it('[J12] an upload that waits for a place is unread, whatever type it is said to have', async () => {
    const { asAlice } = await openHttpRig({ role: 'admin' })
    const heldBack = () => {
      const [read, sent] = [Promise.withResolvers<'read'>(), Promise.withResolvers<void>()]
      const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
        read.resolve('read')
        await sent.promise
        controller.enqueue(Buffer.from('{}'))
        controller.close()
      }
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': '100000' },
        body: new ReadableStream({ pull }, { highWaterMark: 0 }),
        duplex: 'half',
      } as const
      const answer = answered(asAlice('/api/admin/uploads?name=spring', init))
      return { answer, read: read.promise, send: sent.resolve }
    }
    const first = heldBack()
    await first.read
    const second = heldBack()
    expect(await Promise.race([second.read, second.answer])).toMatchObject([503, { code: 'BUSY' }])
    first.send()
    expect(await first.answer).toMatchObject([201, { name: 'spring' }])
  })

  it('reads the next page of the export on demand, and stops when the client disconnects', async () => {
    const ports = adminPorts(alice)
    let read = 0
    let ended = false
    async function* pages() {
      try {
        for (;;) {
          read += 1
          yield (await ports.userList.search({ search: '', limit: 1, offset: 0 })).users
        }
      } finally {
        ended = true
      }
    }
    const { asAlice } = await openHttpRig({ role: 'admin', deps: { ...ports, userList: { ...ports.userList, pages } } })
    const body = (await asAlice('/api/admin/users/export.csv')).body?.getReader()
    for (let n = 0; n < 5; n++) await body?.read()
    expect(read).toBeLessThanOrEqual(6)
    await body?.cancel()
    await vi.waitUntil(() => ended, { timeout: 60_000 })
  })

  it('a fault during the export aborts it instead of ending it as if complete', async () => {
    const ports = adminPorts(alice)
    async function* pages() {
      yield (await ports.userList.search({ search: '', limit: 1, offset: 0 })).users
      await away()
    }
    const { asAlice } = await openHttpRig({ role: 'admin', deps: { ...ports, userList: { ...ports.userList, pages } } })
    await expect((await asAlice('/api/admin/users/export.csv')).text()).rejects.toThrow('away')
  })

  it('[H10] rebuilds, retries and ended matches leave audit rows too', async () => {
    const ports = adminPorts(alice)
    const { send } = await openHttpRig({ role: 'admin', deps: ports, ports })
    await send('POST', `/api/admin/matches/${FIXTURE}/end`, { outcome: 'void' })
    await send('POST', '/api/admin/leaderboard/rebuild-roi', {})
    await send('POST', '/api/admin/reactions/7/1/retry', {})
    expect(ports.actions).toMatchObject([
      { actor: ALICE, action: 'match.end', subject: String(FIXTURE), after: 'void' },
      { actor: ALICE, action: 'boards.rebuild' },
      { actor: ALICE, action: 'reaction.retry', subject: '7/1' },
    ])
    await send('POST', '/api/admin/matches/4/end', { outcome: 'void' })
    expect(ports.actions.at(-1)).toMatchObject({ action: 'match.end', subject: '4', outcome: 'NOT_FOUND' })
  })

  it('[H10] an end of a match whose first request had no answer is audited by its repetition', async () => {
    const ports = adminPorts(alice)
    const said: string[] = []
    const list = async () => ports.actions.slice(-1).map((action) => ({ ...action, ...listedEntry(action) }))
    const desk = { ...(await openHttpRig()).deps.desk, ask: async () => said.shift() as never }
    let settling: 'void' | 'full_time' = 'void'
    const { catalogue: known } = (await openHttpRig()).deps
    const match = async (id: FixtureId) => {
      const found = await known.match(id)
      return found === null ? null : { ...found, settling }
    }
    const catalogue = { ...known, match }
    const deps = { ...ports, desk, catalogue, audit: { ...ports.audit, list } }
    const { send } = await openHttpRig({ role: 'admin', deps, ports })
    const end = (outcome: 'void' | 'settle') => answered(send('POST', `/api/admin/matches/${FIXTURE}/end`, { outcome }))
    said.push('elsewhere', 'over', 'over', 'elsewhere', 'over', 'elsewhere', 'over')
    expect(await end('void')).toMatchObject([503, { code: 'BUSY' }])
    expect(await end('void')).toEqual([200, { matchId: FIXTURE, outcome: 'void' }])
    expect(await end('void')).toMatchObject([409, { code: 'MATCH_OVER' }])
    expect(await end('settle')).toMatchObject([503, { code: 'BUSY' }])
    expect(await end('void')).toMatchObject([409, { code: 'MATCH_OVER' }])
    // It has settled by itself meanwhile.
    settling = 'full_time'
    expect(await end('void')).toMatchObject([503, { code: 'BUSY' }])
    expect(await end('void')).toMatchObject([409, { code: 'MATCH_OVER' }])
    expect(ports.actions.map(({ outcome = 'ok' }) => outcome)).toEqual([
      'UNKNOWN_OUTCOME',
      'ok',
      'MATCH_OVER',
      'UNKNOWN_OUTCOME',
      'MATCH_OVER',
      'UNKNOWN_OUTCOME',
      'MATCH_OVER',
    ])
  })
})

/** What the audit log adds to an action. */
const listedEntry = ({ outcome = 'ok' }: ControlAction) => ({
  id: 1,
  at: alice.createdAt,
  actorName: 'alice',
  subjectName: null,
  reason: null,
  outcome,
})

describe('anchors', () => {
  const put = async (type: string, body: string) => {
    const ports = adminPorts(alice)
    const rig = await openHttpRig({ role: 'admin', deps: ports, ports })
    const answer = await rig.asAlice('/api/admin/anchors', { method: 'PUT', headers: { 'content-type': type }, body })
    return { status: answer.status, body: await answer.json(), actions: ports.actions }
  }

  it('are set from JSON and from CSV alike', async () => {
    const json = await put('application/json', '{"anchors":[{"playerId":7,"price":240},{"playerId":8,"price":185.5}]}')
    const csv = await put('text/csv; charset=utf-8', '\uFEFFplayerId,price\r\n7,240\r\n8,185.5\r\n')
    expect([json.status, json.body]).toEqual([200, { set: 2 }])
    expect([csv.status, csv.body, csv.actions]).toEqual([200, { set: 2 }, json.actions])
    expect(json.actions).toMatchObject([
      {
        action: 'anchors.set',
        after: [
          [7, 240_000_000],
          [8, 185_500_000],
        ],
      },
    ])
  })

  it.each([
    ['application/json', '{"anchors":[]}'],
    ['application/json', '{"anchors":[{"playerId":7,"price":1}]}'],
    ['application/json', '{"anchors":[{"playerId":7,"price":200,"prise":200}]}'],
    ['application/json', '{"anchors":[{"playerId":7,"price":200},{"playerId":7,"price":210}]}'],
    ['text/csv', '7,240'],
    ['text/csv', 'playerId,price\n7,240,9'],
    ['text/csv', 'playerId,price\n7,'],
    ['text/csv', 'playerId,price\n=1+1,240'],
    ['text/csv', ''],
    ['text/csv', 'playerId,price\n0x7,240'],
  ])('refuses %s with %j, and sets nothing', async (type, body) => {
    const refused = await put(type, body)
    expect([refused.status, refused.body, refused.actions]).toMatchObject([400, { code: 'VALIDATION_FAILED' }, []])
  })
})
