import { z } from 'zod'
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { leagueId } from '../../actors/kernel/ids.ts'
import { money, price } from '../../actors/kernel/micros.ts'
import { HOUR_MS, instant, MINUTE_MS } from '../../actors/kernel/world.ts'
import { tickReason } from '../../actors/market/reason-words.ts'
import type { Tournament } from '../../src/features/tournaments/store.ts'
import { picture } from '../../src/features/share-picture.ts'
import type { FeaturePorts } from './feature-parts.ts'
import type { HttpDeps } from '../../src/http/ports.ts'
import { FIXTURE, NOW, openHttpRig, PLAYER } from './http-rig.ts'
import { LEAGUE, TOURNAMENT } from './league-ports.ts'

async function ask(
  method: string,
  path: string,
  body?: unknown,
  over: Partial<FeaturePorts> & Partial<HttpDeps> = {},
  role: 'user' | 'admin' = 'user',
) {
  const rig = await openHttpRig({ deps: over, ports: over, role })
  return rig.ask(method, path, body)
}

describe('seasons', () => {
  it('[G5] show the month, and where the caller plays', async () => {
    expect((await ask('GET', '/api/seasons/current')).body).toMatchObject({
      id: '2026-05',
      name: 'May 2026',
      mine: null,
    })
    expect((await ask('POST', '/api/seasons/enter')).body).toMatchObject({ id: LEAGUE })
    expect((await ask('GET', '/api/seasons')).body).toMatchObject({
      seasons: [{ season: { id: '2026-04', division: 5, group: 12 }, rank: 3, members: 50, outcome: 'promoted' }],
    })
  })

  it('[G5] cannot be entered while the last one is being decided', async () => {
    const rig = await openHttpRig()
    const seasons = { ...rig.ports.seasons, enter: async () => ({ kind: 'undecided' as const }) }
    const { status, body, headers } = await ask('POST', '/api/seasons/enter', undefined, { seasons })
    expect([status, body['code'], headers.get('retry-after')]).toEqual([409, 'SEASON_UNDECIDED', '60'])
  })
})

describe('tournaments', () => {
  const listed = async (over: Partial<Tournament>) => {
    const rig = await openHttpRig()
    const [known] = await rig.ports.tournaments.list(1)
    const tournaments: FeaturePorts['tournaments'] = {
      ...rig.ports.tournaments,
      list: async () => (known === undefined ? [] : [{ ...known, ...over }]),
    }
    const { body } = await ask('GET', '/api/tournaments', undefined, { tournaments })
    return (body['tournaments'] as Record<string, unknown>[])[0]
  }

  it('[G6] tell the seed only when it foretells nothing; the hash commits to it before', async () => {
    const [{ seed } = { seed: '' }] = await (await openHttpRig()).ports.tournaments.list(1)
    const before = await listed({})
    expect(before).toMatchObject({ id: TOURNAMENT, state: 'upcoming', seed: null, isEntered: true, matchId: null })
    expect(before?.['commitment']).toBe(createHash('sha256').update(seed).digest('hex'))
    expect(JSON.stringify(before)).not.toContain(seed)
    expect(await listed({ startsAt: instant(NOW - 1) })).toMatchObject({ state: 'running', seed: null })
    const decided = { match: FIXTURE, isMatchKnown: true, startsAt: instant(NOW - HOUR_MS), decidedAt: instant(NOW) }
    expect(await listed(decided)).toMatchObject({ state: 'decided', seed: null })
    const after = await listed({ ...decided, isSeedPublic: true })
    expect(after).toMatchObject({ state: 'decided', seed, commitment: before?.['commitment'] })
  })

  it('[G6] are entered by id', async () => {
    expect(await ask('POST', `/api/tournaments/${TOURNAMENT}/enter`)).toMatchObject({
      status: 200,
      body: { isEntered: true },
    })
    const enter = async (kind: 'full' | 'over' | 'unknown') => {
      const rig = await openHttpRig()
      const tournaments = { ...rig.ports.tournaments, enter: async () => ({ kind }) }
      const { status, body } = await ask('POST', `/api/tournaments/${TOURNAMENT}/enter`, undefined, { tournaments })
      return [status, body['code']]
    }
    expect(await enter('full')).toEqual([409, 'LEAGUE_FULL'])
    expect(await enter('over')).toEqual([409, 'LEAGUE_OVER'])
    expect(await enter('unknown')).toEqual([404, 'NOT_FOUND'])
  })

  it('are scheduled by admins, for a time to come, and on no recording', async () => {
    const wanted = { name: 'Cup', startsAt: new Date(NOW + HOUR_MS).toISOString() }
    const schedule = async (over: object, role: 'user' | 'admin' = 'admin') => {
      const { status, body } = await ask('POST', '/api/admin/tournaments', { ...wanted, ...over }, {}, role)
      return [status, body['code'] ?? body['id']]
    }
    expect(await schedule({})).toEqual([201, TOURNAMENT])
    expect(await schedule({}, 'user')).toEqual([403, 'FORBIDDEN'])
    expect(await schedule({ recording: 'goal-feast' })).toEqual([400, 'VALIDATION_FAILED'])
    expect(await schedule({ startsAt: new Date(NOW).toISOString() })).toEqual([400, 'VALIDATION_FAILED'])
    expect(await schedule({ startsAt: new Date(NOW + 2_200 * HOUR_MS).toISOString() })).toEqual([
      400,
      'VALIDATION_FAILED',
    ])
    expect(await schedule({ speed: 0 })).toEqual([400, 'VALIDATION_FAILED'])
    expect(await schedule({ prize: 1 })).toEqual([400, 'VALIDATION_FAILED'])
  })

  it('[G6] are changed and cancelled by admins before they begin, and keep what is left out', async () => {
    const rig = await openHttpRig()
    const changes: unknown[] = []
    const startsAt = NOW + HOUR_MS
    const change: FeaturePorts['tournaments']['change'] = (id, wanted, why) => {
      const { endOf, ...rest } = { endOf: null, ...wanted }
      changes.push([{ ...rest, ...(endOf === null ? {} : { endsAt: endOf(instant(startsAt), 10) }) }, why.reason])
      return rig.ports.tournaments.change(id, wanted, why)
    }
    const tournaments = { ...rig.ports.tournaments, change }
    const patch = async (body: object, id = TOURNAMENT as string, role: 'user' | 'admin' = 'admin') => {
      const answer = await ask('PATCH', `/api/admin/tournaments/${id}`, body, { tournaments }, role)
      return [answer.status, answer.body['code'] ?? answer.body['id']]
    }
    expect(await patch({ name: 'Late Cup', reason: 'typo' })).toEqual([200, TOURNAMENT])
    expect(await patch({ state: 'cancelled' })).toEqual([200, TOURNAMENT])
    const endsAt = Math.ceil((startsAt + (2 * HOUR_MS) / 10 + 2 * HOUR_MS) / MINUTE_MS) * MINUTE_MS
    expect(changes).toEqual([
      [{ kind: 'set', terms: { name: 'Late Cup' }, endsAt }, 'typo'],
      [{ kind: 'cancel' }, undefined],
    ])
    expect(await patch({ name: 'begun' })).toEqual([409, 'TOURNAMENT_BEGUN'])
    expect(await patch({ state: 'cancelled' }, LEAGUE)).toEqual([404, 'NOT_FOUND'])
    expect(await patch({ startsAt: new Date(NOW).toISOString() })).toEqual([400, 'VALIDATION_FAILED'])
    expect(await patch({ state: 'upcoming' })).toEqual([400, 'VALIDATION_FAILED'])
    expect(await patch({}, TOURNAMENT, 'user')).toEqual([403, 'FORBIDDEN'])
  })

  it('[G6] end on a minute that only their beginning and speed decide, with time to spare', async () => {
    let endsAt = 0
    const rig = await openHttpRig()
    const schedule: FeaturePorts['tournaments']['schedule'] = async (tournament) => {
      endsAt = tournament.endsAt
      return leagueId(TOURNAMENT)
    }
    const startsAt = NOW + HOUR_MS
    const body = { name: 'Cup', startsAt: new Date(startsAt).toISOString(), speed: 7 }
    await ask('POST', '/api/admin/tournaments', body, { tournaments: { ...rig.ports.tournaments, schedule } }, 'admin')
    expect(endsAt).toBe(Math.ceil((startsAt + (2 * HOUR_MS) / 7 + 2 * HOUR_MS) / MINUTE_MS) * MINUTE_MS)
  })
})

describe('recaps', () => {
  it('[R23] of a match and of a week say what was made, and by which trade', async () => {
    const match = (await ask('GET', `/api/recaps/matches/${FIXTURE}`)).body
    expect(match).toMatchObject({
      purse: 'main',
      matchId: FIXTURE,
      week: null,
      start: 10_000,
      result: 30,
      trades: 2,
      wins: 1,
      best: { pnl: 50, direction: 'long' },
      worst: { pnl: -20 },
      rank: { before: 9, after: 7, passed: ['alice'] },
      movers: [],
    })
    const week = (await ask('GET', '/api/recaps/weeks/2026-W18')).body
    expect(week).toMatchObject({ matchId: null, week: '2026-W18', title: 'Week 18 of 2026', result: 30 })
    expect(await ask('GET', '/api/recaps/weeks/2026-W54')).toMatchObject({ status: 400 })
    expect(await ask('GET', '/api/recaps/matches/999')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
  })

  it("[R23] name the largest move of a trade's price, not its own close", async () => {
    const { history } = (await openHttpRig()).deps
    const [goal] = await history.moves(PLAYER, { after: instant(0), until: null, limit: 1 })
    if (goal === undefined) throw new Error('no move')
    const close = { ...goal, from: goal.to, to: price(goal.to - 1_000), reason: tickReason('trade', null) }
    const moves: typeof history.moves = async (_, { limit }) => [close, goal].slice(0, limit)
    const { body } = await ask('GET', `/api/recaps/matches/${FIXTURE}`, undefined, { history: { ...history, moves } })
    expect(body).toMatchObject({ best: { moved: { from: 200, to: 230, reason: { kind: goal.reason.kind } } } })
  })

  it('[R23] of nothing are empty, and of a purse that one has not are none', async () => {
    const rig = await openHttpRig()
    const nothing = { since: instant(NOW), start: money(10_000_000_000), closes: [], earlier: [] }
    const recaps = { ...rig.ports.recaps, closes: async () => nothing, rank: async () => null }
    expect((await ask('GET', `/api/recaps/matches/${FIXTURE}`, undefined, { recaps })).body).toMatchObject({
      result: 0,
      curve: [],
      best: null,
      worst: null,
      rank: null,
    })
    const none = { ...rig.ports.recaps, closes: async () => null }
    expect(
      await ask('GET', `/api/recaps/matches/${FIXTURE}?purse=practice`, undefined, { recaps: none }),
    ).toMatchObject({
      status: 404,
    })
  })

  it('[R23] of a match that was suspended for ten days begin with its kick-off', async () => {
    const rig = await openHttpRig()
    const known = present(await rig.deps.catalogue.match(FIXTURE), 'match')
    const match = { ...known, startsAt: instant(NOW - 240 * HOUR_MS), settledAt: instant(NOW) }
    const catalogue = { ...rig.deps.catalogue, match: async () => match }
    const asked: unknown[] = []
    const recaps = { ...rig.ports.recaps, closes: async (...query: unknown[]) => (asked.push(query[1]), null) }
    await ask('GET', `/api/recaps/matches/${FIXTURE}`, undefined, { recaps, catalogue })
    expect(asked).toMatchObject([{ from: match.startsAt, to: NOW + 1 }])
  })

  it('[R23] have a card as SVG and PNG, in which no name is markup', async () => {
    const rig = await openHttpRig()
    const names: HttpDeps['community']['careers']['names'] = async (users) =>
      new Map(users.map((user) => [user, { username: '<script>alert(1)</script>"&', isBot: false }]))
    const { community } = rig.deps
    const named = { ...community, careers: { ...community.careers, names } }
    const card = async (type: string) => {
      const { asAlice } = await openHttpRig({ deps: { community: named }, ports: { picture } })
      return asAlice(`/api/recaps/matches/${FIXTURE}/card?type=${type}`)
    }
    const svg = await card('svg')
    expect(svg.headers.get('content-type')).toContain('image/svg+xml')
    const drawn = await svg.text()
    expect(drawn).toContain('+30.00')
    expect(drawn).not.toContain('<script')
    expect(drawn).toContain('&lt;script&gt;')
    const png = Buffer.from(await (await card('png')).arrayBuffer())
    expect(png.subarray(1, 4).toString()).toBe('PNG')
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1_200, 630])
  })

  it('[R26] the record of a year says the same by player and by other groups, and as lines without a formula', async () => {
    const { body } = await ask('GET', '/api/recaps/record')
    const sums = { trades: 2, wins: 1, losses: 1, pnl: 30, averageWin: 50, averageLoss: -20 }
    expect(body).toMatchObject({
      purse: 'main',
      total: sums,
      byPlayer: [{ ...sums, player: '=Mara "M" Lind' }],
      byRole: [{ ...sums, role: 'FWD' }],
      byDirection: [{ ...sums, direction: 'long' }],
      byTimeHeld: [{ ...sums, underSecs: null }],
      byMonth: [{ ...sums, month: '2026-05' }],
      best: { pnl: 50, moved: { sentence: expect.any(String) } },
      worst: { pnl: -20 },
    })
    const { curve } = z.object({ curve: z.array(z.object({ value: z.number() })) }).parse(body)
    expect((curve.at(-1)?.value ?? 0) - (curve[0]?.value ?? 0)).toBeCloseTo(30)
    const csv = await (await openHttpRig()).asAlice('/api/recaps/record?type=csv')
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const [head, first, second, end, ...more] = (await csv.text()).split('\r\n')
    expect([end, more]).toEqual(['', []])
    expect(head?.split(',').slice(0, 4)).toEqual(['positionId', 'partOf', 'matchId', 'player'])
    expect(first).toContain(`,${FIXTURE},"'=Mara ""M"" Lind",FWD,long,`)
    expect([first, second].map((line) => line?.split(',').at(-1))).toEqual(['50', '-20'])
  })

  it('[R26] the record is of a stretch of time, and of at most 20,000 positions', async () => {
    const rig = await openHttpRig()
    const asked: unknown[] = []
    const recaps = { ...rig.ports.recaps, closes: async (...query: unknown[]) => (asked.push(query[1]), null) }
    const refused = await ask('GET', '/api/recaps/record?purse=practice&from=2026-01-01T00:00:00Z', undefined, {
      recaps,
    })
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: 'from' }] } })
    expect(asked).toMatchObject([{ purse: 'practice', match: null, from: Date.UTC(2026, 0, 1) }])
  })

  it('[H21] recaps of one user are read one after the other, and too many at once must come later', async () => {
    const { ports } = await openHttpRig()
    let [inside, most] = [0, 0]
    const closes: typeof ports.recaps.closes = async (...query) => {
      most = Math.max(most, ++inside)
      await new Promise(setImmediate)
      inside--
      return ports.recaps.closes(...query)
    }
    const rig = await openHttpRig({ ports: { recaps: { ...ports.recaps, closes } } })
    const paths = ['/api/recaps/record', `/api/recaps/matches/${FIXTURE}`, '/api/recaps/weeks/2026-W18']
    const answers = Array.from({ length: 12 }, (_, n) => rig.asAlice(paths[n % paths.length] ?? ''))
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(most).toBe(1)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(9)
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
  })

  it('[R23] a card that cannot be drawn now is asked for again', async () => {
    const { status, body } = await ask('GET', `/api/recaps/matches/${FIXTURE}/card`, undefined, {
      picture: async () => null,
    })
    expect([status, body['code']]).toEqual([503, 'BUSY'])
  })
})
