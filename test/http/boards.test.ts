import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { cursorsOf } from '../../src/http/cursors.ts'
import { communityPorts } from './community-ports.ts'
import { alice, FIXTURE, NOW, openHttpRig } from './http-rig.ts'

const get = async (path: string, options: Parameters<typeof openHttpRig>[0] = {}) =>
  (await openHttpRig(options)).ask('GET', path)
const community = communityPorts(alice, NOW)

describe('leaderboards', () => {
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

  it('[H24] a cursor of one kind of board is refused by the other, and so are forged keys', async () => {
    const next = async (path: string) =>
      z.object({ nextCursor: z.string() }).parse((await get(`/api/leaderboard/${path}?limit=1`)).body).nextCursor
    const boards = ['global', 'roi/global', 'friends', 'roi/friends', 'district/1', 'roi/district/1']
    for (const path of boards) {
      const cursor = await next(path)
      const rest = await get(`/api/leaderboard/${path}?limit=1&cursor=${cursor}`)
      expect(rest.body, path).toMatchObject({ entries: [{ rank: 2, isMe: true }], total: 2, nextCursor: null })
      const other = path.startsWith('roi/') ? path.slice(4) : `roi/${path}`
      expect((await get(`/api/leaderboard/${other}?cursor=${cursor}`)).status, path).toBe(400)
    }
    const forged = cursorsOf('board-pnl', z.tuple([z.array(z.int()), z.string()]), [[1], 'x'])
    for (const key of [[3e15], [-3e15], [], [1, 2]]) {
      const cursor = forged.write([key, alice.id])
      expect((await get(`/api/leaderboard/global?cursor=${cursor}`)).status, String(key)).toBe(400)
    }
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

describe('the table of a match', () => {
  it('[R27] ranks everybody, a district or friends, with the place of the caller', async () => {
    const { body } = await get(`/api/matches/${FIXTURE}/table`)
    const me = { rank: 2, username: 'alice', roiPct: 12.5, pnl: 125, trades: 4, isMe: true }
    expect(body).toMatchObject({ matchId: FIXTURE, purse: 'main', group: 'all', final: false, total: 300, me })
    expect(body).toMatchObject({ entries: [{ rank: 1, username: 'bob', isMe: false }, me], around: [{ rank: 1 }, me] })
    expect((await get(`/api/matches/${FIXTURE}/table?group=friends`)).body).toMatchObject({ total: 2, me })
    expect((await get(`/api/matches/${FIXTURE}/table?group=district`)).body).toMatchObject({ me: null, around: [] })
    expect((await get(`/api/matches/${FIXTURE}/table?group=others`)).status).toBe(400)
    expect((await get('/api/matches/4000000000/table')).status).toBe(404)
    expect(body).toMatchObject({ nextCursor: expect.any(String) })
    const { nextCursor } = z.object({ nextCursor: z.string() }).parse(body)
    const next = await get(`/api/matches/${FIXTURE}/table?limit=1&cursor=${nextCursor}`)
    expect(next.body).toMatchObject({ entries: [{ rank: 3 }], nextCursor: null })
    expect((await get(`/api/matches/${FIXTURE}/table?cursor=${nextCursor.slice(1)}`)).status).toBe(400)
  })
})
