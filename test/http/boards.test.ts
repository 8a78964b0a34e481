import { z } from '@hono/zod-openapi'
import { describe, expect, it } from 'vitest'
import { communityPorts } from './community-ports.ts'
import { alice, ALICE, NOW, openHttpRig } from './http-rig.ts'

const get = async (path: string, options: Parameters<typeof openHttpRig>[0] = {}) => {
  const answer = await (await openHttpRig(options)).asAlice(path)
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}
const community = communityPorts(alice, NOW)

describe('leaderboards', () => {
  it('list rank, name, score, ROI, PnL, win rate and trades, including negative scores', async () => {
    const { body } = await get('/api/leaderboard/roi/global')
    expect(body).toMatchObject({
      total: 2,
      entries: [
        { rank: 1, username: 'bob', score: 25, roiPct: 25, pnl: 250, winRate: 0.75, trades: 4, bot: true, isMe: false },
        {
          rank: 2,
          userId: ALICE,
          score: -1.2346,
          pnl: -12.345678,
          winRate: 0.25,
          districtId: 1,
          bot: false,
          isMe: true,
        },
      ],
    })
    expect((await get('/api/leaderboard/global')).body).toMatchObject({
      entries: [{ score: 250 }, { score: -12.345678 }],
    })
  })

  it('the friends boards rank the referral network', async () => {
    const { body } = await get('/api/leaderboard/roi/friends?limit=1')
    expect(body).toMatchObject({ total: 2, entries: [{ rank: 1, username: 'bob' }] })
    expect((await get('/api/leaderboard/friends')).body).toMatchObject({
      total: 2,
      entries: [{ rank: 1 }, { rank: 2 }],
    })
  })

  it('every board has pages', async () => {
    for (const by of ['', 'roi/'])
      for (const board of ['global', 'friends', 'district/1'])
        expect((await get(`/api/leaderboard/${by}${board}?offset=1`)).body).toMatchObject({
          total: 2,
          entries: [{ rank: 2, userId: ALICE }],
          nextCursor: null,
        })
    const { nextCursor } = z
      .object({ nextCursor: z.string() })
      .parse((await get('/api/leaderboard/roi/global?limit=1')).body)
    expect((await get(`/api/leaderboard/roi/global?limit=1&cursor=${nextCursor}`)).body).toMatchObject({
      entries: [{ rank: 2 }],
      nextCursor: null,
    })
  })

  it('a district board includes the standing of the district; an unknown district is 404', async () => {
    const { body } = await get('/api/leaderboard/roi/district/1')
    expect(body).toMatchObject({ total: 2, district: { rank: 1, name: 'Harbour', members: 2, score: 11.8827 } })
    expect((await get('/api/leaderboard/district/7')).status).toBe(404)
    expect((await get('/api/districts/standings')).body).toEqual({
      districts: [{ rank: 1, districtId: 1, name: 'Harbour', members: 2, score: 11.8827 }],
    })
  })

  it.each([
    'limit=0',
    'limit=501',
    'limit=x',
    'limit=1.5',
    'limit=0x10',
    'limit=1e1',
    'offset=-1',
    'offset=x',
    'offset=',
  ])('%s is 400', async (query) => {
    expect((await get(`/api/leaderboard/global?${query}`)).status).toBe(400)
  })

  it.each(['0', 'x', '-1', '9999999999'])('the district %s is 400', async (id) => {
    expect((await get(`/api/leaderboard/district/${id}`)).status).toBe(400)
  })

  it('me is the rank by ROI, or unranked before the first close', async () => {
    expect((await get('/api/leaderboard/me')).body).toMatchObject({ ranked: true, rank: 2, total: 2, score: -1.2346 })
    const boards = { ...community.boards, main: { ...community.boards.main, place: async () => null } }
    const unranked = { deps: { community: { ...community, boards } } }
    expect((await get('/api/leaderboard/me', unranked)).body).toEqual({ ranked: false })
    expect((await get('/api/leaderboard/me/context', unranked)).body).toEqual({ ranked: false })
  })

  it('the context has the gap to the next rank; null for the first', async () => {
    expect((await get('/api/leaderboard/me/context')).body).toMatchObject({
      ranked: true,
      next: { rank: 1, score: 25, gap: 26.2346 },
    })
    const { main } = community.boards
    const place: typeof main.place = async (board, user) => {
      const mine = await main.place(board, user)
      return mine === null ? null : { ...mine, rank: 1, next: null }
    }
    const first = { deps: { community: { ...community, boards: { ...community.boards, main: { ...main, place } } } } }
    expect((await get('/api/leaderboard/me/context', first)).body).toMatchObject({ rank: 1, next: null })
  })

  it('[R15] practice has boards of its own', async () => {
    for (const path of ['global', 'roi/global', 'friends', 'roi/friends', 'district/1', 'roi/district/1']) {
      const [main, practice] = [
        await get(`/api/leaderboard/${path}`),
        await get(`/api/leaderboard/${path}?purse=practice`),
      ]
      expect(main.body, path).toMatchObject({ total: 2 })
      if (!path.includes('friends')) expect(practice.body, path).toMatchObject({ total: 0, entries: [] })
    }
    expect((await get('/api/leaderboard/me?purse=practice')).body).toEqual({ ranked: false })
    expect((await get('/api/leaderboard/me/context?purse=practice')).body).toEqual({ ranked: false })
    expect((await get('/api/leaderboard/global?purse=other')).status).toBe(400)
  })

  it('a rebuild answers with the number of ranked users; 409 while another process rebuilds', async () => {
    const admin = await openHttpRig({ role: 'admin' })
    expect(await (await admin.send('POST', '/api/admin/leaderboard/rebuild-roi', {})).json()).toEqual({ rebuilt: 2 })
    const user = await openHttpRig()
    expect((await user.send('POST', '/api/admin/leaderboard/rebuild-roi', {})).status).toBe(403)
    const busy = await openHttpRig({
      role: 'admin',
      deps: { community: { ...community, keeper: { rebuild: async () => null } } },
    })
    expect((await busy.send('POST', '/api/admin/leaderboard/rebuild-roi', {})).status).toBe(409)
  })
})

describe('reactions', () => {
  it('operators see pending and failed commits, and retry the failed ones', async () => {
    expect((await get('/api/admin/reactions', { role: 'admin' })).body).toEqual({
      waiting: 1,
      oldestAt: '2026-05-02T14:30:00.000Z',
      setAside: [{ matchId: 7, seq: 3, error: 'Error: poison', attempts: 5, at: '2026-05-02T14:30:00.000Z' }],
      nextCursor: null,
    })
    expect((await get('/api/admin/reactions')).status).toBe(403)
    const { send } = await openHttpRig({ role: 'admin' })
    expect(await (await send('POST', '/api/admin/reactions/7/3/retry', {})).json()).toEqual({ retried: true })
    expect((await send('POST', '/api/admin/reactions/7/4/retry', {})).status).toBe(404)
    expect((await send('POST', '/api/admin/reactions/0/4/retry', {})).status).toBe(400)
  })
})
