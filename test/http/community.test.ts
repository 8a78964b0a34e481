import { z } from '@hono/zod-openapi'
import { describe, expect, it } from 'vitest'
import { money } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { BADGES } from '../../actors/community/badges.ts'
import { communityPorts } from './community-ports.ts'
import { alice, ALICE, NOW, openHttpRig } from './http-rig.ts'

type Ports = ReturnType<typeof communityPorts>
const community = communityPorts(alice, NOW)
const doorWith = (over: Partial<Ports>) =>
  openHttpRig({ deps: { community: { ...community, ...over } }, ports: { ...community, ...over } })
const get = async (path: string, over: Partial<Ports> = {}) => {
  const answer = await (await doorWith(over)).asAlice(path)
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}
const post = async (path: string, body: unknown, over: Partial<Ports> = {}) => {
  const answer = await (await doorWith(over)).send('POST', path, body)
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> }
}

describe('notifications', () => {
  it('come in pages with the unread count, continued by cursor', async () => {
    const { body } = await get('/api/notifications?limit=5')
    expect(body).toMatchObject({
      notifications: [
        { id: '41', type: 'badge', title: 'First whistle', data: { badgeId: 'first_whistle' }, read: false },
      ],
      unreadCount: 1,
      nextCursor: null,
    })
    const asked: unknown[] = []
    const list: Ports['inbox']['list'] = async (user, query) => {
      asked.push(query)
      const [one] = await community.inbox.list(user, query)
      return one === undefined ? [] : [one, { ...one, id: 40 }]
    }
    const inbox = { ...community.inbox, list }
    const page = await get('/api/notifications?limit=1&unreadOnly=true', { inbox })
    expect(page.body).toMatchObject({ notifications: [{ id: '41' }], nextCursor: expect.any(String) })
    const { nextCursor } = z.object({ nextCursor: z.string() }).parse(page.body)
    expect((await get(`/api/notifications?limit=1&cursor=${nextCursor}`, { inbox })).status).toBe(200)
    expect(asked).toEqual([
      { limit: 2, unreadOnly: true, before: null },
      { limit: 2, unreadOnly: false, before: 41 },
    ])
  })

  it('are marked as read, one or all; an unknown id is 404', async () => {
    expect((await get('/api/notifications/unread-count')).body).toEqual({ unreadCount: 1 })
    expect((await post('/api/notifications/41/read', {})).body).toEqual({ read: true, unreadCount: 1 })
    expect((await post('/api/notifications/42/read', {})).status).toBe(404)
    expect((await post('/api/notifications/x/read', {})).status).toBe(400)
    expect((await post('/api/notifications/read-all', {})).body).toEqual({ updated: 1, unreadCount: 0 })
  })

  it.each(['limit=0', 'limit=101', 'unreadOnly=yes', 'cursor=0', 'cursor=x'])('%s is 400', async (query) => {
    expect((await get(`/api/notifications?${query}`)).status).toBe(400)
  })
})

describe('activity', () => {
  it("is global or of one district: by number, or the caller's own", async () => {
    expect((await get('/api/activity')).body).toMatchObject({
      count: 1,
      events: [{ id: '7', type: 'big_win', username: 'bob', text: 'won 612.50 long on A. Striker', districtId: 1 }],
    })
    const asked: unknown[] = []
    const list: Ports['activity']['list'] = async (limit, district) => {
      asked.push([limit - 1, district])
      return []
    }
    const at = (query: string) => get(`/api/activity?${query}`, { activity: { list } })
    await at('scope=district')
    await at('scope=district&districtId=1&limit=3')
    await at('scope=global&districtId=1')
    expect(asked).toEqual([
      [50, 1],
      [3, 1],
      [50, null],
    ])
    expect((await at('scope=district&districtId=7')).status).toBe(404)
    expect((await at('scope=city')).status).toBe(400)
  })
})

describe('referrals', () => {
  it('an invite is a named share link', async () => {
    expect(await post('/api/referrals/invites', { name: ' Grace ' })).toMatchObject({
      status: 201,
      body: {
        name: 'Grace',
        code: 'c0ffee0001',
        url: 'https://play.touchline.example/join?ref=c0ffee0001',
        status: 'unclaimed',
        registered: false,
        reward: 0,
      },
    })
    for (const name of ['', ' ', 'x'.repeat(65), 'a\u0000b', 7]) {
      expect((await post('/api/referrals/invites', { name })).status).toBe(400)
    }
    const full = { invites: { ...community.invites, invite: async () => null } }
    expect((await post('/api/referrals/invites', { name: 'Grace' }, full)).status).toBe(409)
  })

  it('the summary counts registered users without a trade as pending, and sums the credits', async () => {
    const one = { name: null, code: 'ALICE1', createdAt: NOW, registeredAt: null, creditedAt: null, reward: money(0) }
    const list = async () => ({
      ownCode: 'ALICE1',
      referrals: [
        { ...one, id: ALICE, name: 'Waiting', code: 'w' },
        { ...one, id: ALICE, registeredAt: NOW },
        { ...one, id: ALICE, registeredAt: NOW, creditedAt: instant(NOW + 1), reward: money(100_000_000) },
      ],
      sums: { invited: 3, registered: 2, credited: 1, rewards: money(100_000_000) },
    })
    const { body } = await get('/api/referrals', { invites: { ...community.invites, list } })
    expect(body).toMatchObject({
      code: 'ALICE1',
      summary: { invited: 3, registered: 2, earned: 1, pending: 1, total_credited: 100 },
      referrals: [
        { status: 'unclaimed', registered: false },
        { status: 'pending', registered: true },
        { status: 'credited', reward: 100 },
      ],
    })
  })

  it("a code is valid unless it is unknown, the caller's own, or the caller is already referred", async () => {
    const validate = async (code: unknown, over: Partial<Ports['referrals'] & Ports['invites']> = {}) => {
      const [referrals, invites] = [
        { ...community.referrals, ...over },
        { ...community.invites, ...over },
      ]
      return post('/api/referral/validate', { code }, { referrals, invites })
    }
    expect((await validate('bob5code00')).body).toEqual({ valid: true, invitedBy: 'bob' })
    expect((await validate('nobody')).body).toEqual({ valid: false, invitedBy: null, reason: 'unknown' })
    expect((await validate('a\u0000b')).body).toMatchObject({ valid: false, reason: 'unknown' })
    const own = { find: async () => ({ referrerId: ALICE, referrerName: 'alice' }) }
    expect((await validate('ALICE1', own)).body).toMatchObject({ valid: false, reason: 'own_code' })
    const brought = { isReferred: async () => true }
    expect((await validate('bob5code00', brought)).body).toMatchObject({ valid: false, reason: 'already_referred' })
    expect((await validate('')).status).toBe(400)
  })
})

describe('achievements', () => {
  it('are earned badges, and progress towards the others', async () => {
    const { body } = await get('/api/achievements')
    expect(body).toMatchObject({
      xp: 0,
      level: 1,
      earned: [{ id: 'first_whistle', earnedAt: '2026-05-02T14:30:00.000Z' }],
    })
    const locked = body['locked'] as { id: string; progress: unknown }[]
    expect(locked).toHaveLength(BADGES.length - 1)
    expect(locked.find(({ id }) => id === 'regular')?.progress).toEqual({ current: 0, target: 25 })
  })
})

describe('the spinner', () => {
  it('shows the current week with only the seed hash, decided weeks with winner and seed', async () => {
    const { body } = await get('/api/spinner/current')
    expect(body).toMatchObject({
      week: '2026-W18',
      status: 'tied',
      candidates: [{ username: 'bob', roiPct: 12.34, winRate: 0.75, trades: 4 }, { userId: ALICE }],
      seedHash: 'b5d4',
      previous: { status: 'decided', winner: { username: 'bob' }, seed: '5eed' },
    })
    expect(body).not.toHaveProperty('seed')
    expect((await get('/api/spinner/history?limit=1')).body).toMatchObject({ weeks: [{ status: 'decided' }] })
    expect((await get('/api/spinner/history?limit=0')).status).toBe(400)
  })

  it('run decides the week and notifies; 409 with Retry-After while closes are being processed', async () => {
    expect((await post('/api/spinner/run', {})).body).toMatchObject({ status: 'decided', winner: { username: 'bob' } })
    const run = async () => ({ kind: 'counting', retryAfterSecs: 2 }) as const
    const early = await post('/api/spinner/run', {}, { spinner: { ...community.spinner, run } })
    expect([early.status, early.headers.get('retry-after')]).toEqual([409, '2'])
  })
})

describe('the legacy model', () => {
  it('shows trades and portfolio, and has no route to sell', async () => {
    expect((await get('/api/trades?limit=1&offset=0')).body).toEqual({
      trades: [
        {
          id: 'L1',
          player: 'A. Striker',
          side: 'buy',
          quantity: 3,
          price: 10,
          total: 30,
          at: '2026-05-02T14:30:00.000Z',
        },
      ],
      total: 1,
      nextCursor: null,
    })
    expect((await get('/api/portfolio')).body).toEqual({
      holdings: [{ player: 'A. Striker', quantity: 3, averagePrice: 10, invested: 30 }],
      balance: 9_950,
      totalPnl: 0,
      legacyPnl: 0,
      positionsPnl: 0,
    })
    expect((await post('/api/trades', {})).status).toBe(405)
    expect((await get('/api/trades?offset=-1')).status).toBe(400)
  })
})
