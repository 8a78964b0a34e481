import { describe, expect, it } from 'vitest'
import { done, refused } from '../../actors/kernel/outcome.ts'
import { HOUR_MS } from '../../actors/kernel/world.ts'
import { type HttpRigOptions, NOW, openHttpRig, PLAYER, trade } from './http-rig.ts'
import { LineInput } from '../../src/http/inputs.ts'
import { CUP_PLAYER, ELSEWHERE, LEAGUE, SEASON } from './league-ports.ts'

const iso = (ms: number): string => new Date(ms).toISOString()
const friends = { name: 'Friends', startsAt: iso(NOW), endsAt: iso(NOW + HOUR_MS), matches: 'all' }
const order = { instrumentId: PLAYER, direction: 'long', lotSize: 0.5, clientPrice: 200 }

const repeated = done({ ...trade, repeated: true })

async function ask(method: string, path: string, body?: unknown, options: HttpRigOptions = {}) {
  const rig = await openHttpRig(options)
  return { ...(await rig.ask(method, path, body)), rig }
}

describe('leagues', () => {
  it.each([
    ['ends before it begins', { endsAt: iso(NOW - 1) }],
    ['is over', { startsAt: iso(NOW - 2 * HOUR_MS), endsAt: iso(NOW - HOUR_MS) }],
    ['runs for years', { endsAt: iso(NOW + 401 * 24 * HOUR_MS) }],
    ['began last week', { startsAt: iso(NOW - 200 * HOUR_MS) }],
    ['has no name', { name: '  ' }],
    ['has a name with a line break', { name: 'a\nb' }],
    ['has a name that turns the line', { name: 'a\u202eb' }],
    ['has a name that cannot be seen', { name: '\u3164\u200d\u2800' }],
    ['gives nothing', { startingBalance: 0 }],
    ['gives too much', { startingBalance: 1_000_001 }],
    ['chooses no match', { matches: [] }],
    ['chooses too many', { matches: Array.from({ length: 65 }, (_, n) => n + 1) }],
    ['has an unknown field', { prize: 1 }],
  ])('one that %s is refused', async (_what, over) => {
    expect(await ask('POST', '/api/leagues', { ...friends, ...over })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED' },
    })
  })

  it.each([
    ['with the joiner of a Persian name', 'علی\u200cرضا', 'علی\u200cرضا'],
    ['with an emoji of three', '👨\u200d👩\u200d👧', '👨\u200d👩\u200d👧'],
    ['in decomposed letters', 'A\u0301da', '\u00c1da'],
  ])('may have a name %s', async (_what, name, kept) => {
    expect((await ask('POST', '/api/leagues', { ...friends, name })).status).toBe(201)
    expect(LineInput.parse(name)).toBe(kept)
  })

  it('a join link says what it leads to, and nothing about its members', async () => {
    const { app } = await openHttpRig()
    const answer = await app.request('/api/public/leagues/9F2C4B7D01AE')
    const body = (await answer.json()) as Record<string, unknown>
    expect(body).toMatchObject({ name: 'Harbour Friends', founder: 'bob', matches: 'chosen', members: 2 })
    expect(Object.keys(body)).not.toContain('id')
    expect((await app.request('/api/public/leagues/unknown')).status).toBe(404)
  })

  it('[G4] an order names the purse that pays: that of the match, or a league that takes it', async () => {
    const open = async (purse?: string) => {
      const { status, body, rig } = await ask('POST', '/api/positions/open', { ...order, purse })
      return { status, code: body['code'], command: rig.commands[0] }
    }
    expect(await open()).toMatchObject({ status: 201, command: { league: undefined } })
    const inCup = await ask('POST', '/api/positions/open', { ...order, instrumentId: CUP_PLAYER })
    expect(inCup.rig.commands[0]).toMatchObject({ league: LEAGUE })
    expect(await open('main')).toMatchObject({ status: 201, command: { league: undefined } })
    expect(await open(LEAGUE)).toMatchObject({ status: 201, command: { league: LEAGUE } })
    expect(await open(LEAGUE.toUpperCase())).toMatchObject({ status: 201, command: { league: LEAGUE } })
    expect(await open('MAIN')).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' })
    expect(await open('practice')).toMatchObject({ status: 409, code: 'PURSE_MISMATCH', command: undefined })
    expect(await open(ELSEWHERE)).toMatchObject({ status: 404, code: 'NOT_FOUND', command: undefined })
    expect(await open('savings')).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' })
    const quoted = await ask('POST', '/api/positions/quote', { ...order, purse: LEAGUE })
    expect([quoted.status, quoted.rig.quotes[0]?.league]).toEqual([200, LEAGUE])
  })

  it('[A5] a key is answered as it was, though its league takes no order of the user any more', async () => {
    const again = { ...order, purse: ELSEWHERE }
    const { status, headers, body, rig } = await ask('POST', '/api/positions/open', again, { recalled: repeated })
    expect([status, headers.get('idempotent-replayed'), rig.commands]).toEqual([201, 'true', []])
    expect(body).toMatchObject({ position: { id: trade.position.id } })
    const refusal = refused({ code: 'key_reused' })
    expect((await ask('POST', '/api/positions/open', again, { recalled: refusal })).status).toBe(409)
  })

  it('[G2] a refusal to let a member go says that a season lasts, not that it is over', async () => {
    expect(await ask('POST', `/api/leagues/${SEASON}/leave`)).toMatchObject({
      status: 409,
      body: { code: 'LEAGUE_KEEPS_MEMBERS' },
    })
    expect((await ask('POST', `/api/leagues/${ELSEWHERE}/leave`)).status).toBe(404)
  })

  it('[Y2] its table is read page by page, without those who are on no board', async () => {
    const page = async (query: string) => (await ask('GET', `/api/leagues/${LEAGUE}?limit=1${query}`)).body
    const first = await page('')
    const second = await page(`&cursor=${String(first['nextCursor'])}`)
    expect(first['entries']).toHaveLength(1)
    expect(second).toMatchObject({ total: 2, me: first['me'], nextCursor: null })
    expect(second['entries']).not.toEqual(first['entries'])
    expect((await ask('GET', `/api/leagues/${LEAGUE}?cursor=x`)).status).toBe(400)
  })
})
