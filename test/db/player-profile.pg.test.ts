import { Hono } from 'hono'
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { fixtureId, instrumentId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { DAY_MS, HOUR_MS, instant, MINUTE_MS } from '../../actors/kernel/world.ts'
import { type MoveReason, reasonText } from '../../actors/market/move-reason.ts'
import { PlayerProfiles } from '../../src/features/player-profile/store.ts'
import { profileShare } from '../../src/features/player-profile/share.ts'
import { Leagues } from '../../src/features/leagues/store.ts'
import { Catalogue } from '../../db/catalogue.ts'
import { Fixtures } from '../../db/fixtures.ts'
import { present } from '../../actors/kernel/assert.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { money } from '../../actors/kernel/micros.ts'
import { held, info, instrument, p, player, u } from '../support/fixtures.ts'
import { insertInstrument, insertMatch, insertPosition } from '../support/rows.ts'
import { seasonOn } from '../support/season.ts'

const MATCHES = 6

eachDatabase((open) => {
  const world = systemWorld()
  const id = instrumentId(world.newId())
  const team = { id: 4_711, name: 'Harbour', goals: 2 }
  const start = instant(world.now() - 30 * DAY_MS)
  const kickOff = (n: number) => instant(start + n * DAY_MS)
  const matchOf = (n: number) => fixtureId(55_000 + n)
  const season = seasonOn(open, world)
  const profiles = () => new PlayerProfiles(open().db)

  const tick = (at: number, units: number, base: number, cause: string, why: MoveReason | null = null) => ({
    instrument_id: id,
    at: new Date(at),
    price_micros: u(units),
    base_micros: u(base),
    imbalance_micros: 0,
    cause,
    provider_event_id: why === null ? 0 : at % 1_000_000,
    why: why === null ? null : reasonText(why),
  })
  const goal = (byEvent: number): MoveReason => ({
    event: { kind: 'goal', minute: 20, extraMinute: null, undone: false },
    byEvent: u(byEvent),
    byMinutes: u(-1),
    byStatistics: 0,
  })

  /** The nth match takes the price from 200 + 10n to 210 + 10n: a goal brings 12, orders 1, and play the rest. */
  beforeAll(async () => {
    const { db } = open()
    const squad = [player(1, { instrumentId: id })]
    for (let n = 0; n < MATCHES; n++) {
      const at = kickOff(n)
      const settledAt = instant(at + 2 * HOUR_MS)
      const [home, away] =
        n % 2 === 0 ? [team, { id: 1, name: 'Moor', goals: 0 }] : [{ id: 1, name: 'Moor', goals: 0 }, team]
      const match = info({ matchId: matchOf(n), startsAt: at, settledAt, phase: 'ended', squad, home, away })
      await insertMatch(db, match)
      // Of others, at the same time.
      await insertMatch(db, info({ ...match, matchId: fixtureId(56_000 + n), squad: [player(2)] }))
      const from = 200 + 10 * n
      await db
        .insertInto('ticks')
        .values([
          // A listing may fall into one tick with what follows.
          tick(at - HOUR_MS, from, from, n === 2 ? 'match' : 'listing'),
          tick(at + 20 * MINUTE_MS, from + 11, from + 11, 'event', goal(12)),
          tick(at + 30 * MINUTE_MS, from + 12, from + 11, 'trade'),
          tick(settledAt - 500, from + 10, from + 9, 'settlement'),
        ])
        .execute()
    }
    await insertInstrument(db, matchOf(MATCHES - 1), instrument(1, { id, side: 'away' }), p(260))
  })

  it('[R33] a player has the last five settled matches, each with what moved the price', async () => {
    const played = await profiles().played(id)
    expect(played.map(({ info: { matchId } }) => matchId)).toEqual([5, 4, 3, 2, 1].map(matchOf))
    for (const { from, to, baseBy, told } of played) {
      expect([to - from, baseBy]).toEqual([u(10), u(9)])
      expect(told).toEqual([goal(12)])
    }
    expect(played[0]?.from).toBe(p(250))
    expect(await profiles().played(instrumentId(world.newId()))).toEqual([])
  })

  it('[R33] a start price is told with what it was made of', async () => {
    const { db } = open()
    const found = await profiles().beginning(id)
    expect(found).toEqual({ start: found?.anchor, anchor: found?.start, expectedGoals: null })
    await sql`
      update matches m set pricing = jsonb_set(jsonb_set(m.pricing, '{anchors}', jsonb_build_object(i.player_id::text, 190000000)),
                                               '{expectedGoals}', '{"home": 1.25, "away": 0.75}')
        from instruments i where i.match_id = m.id and i.id = ${id}::uuid`.execute(db)
    expect(await profiles().beginning(id)).toMatchObject({ anchor: p(190), expectedGoals: 0.75 })
    expect(await profiles().beginning(instrumentId(world.newId()))).toBeNull()
  })

  it('[R33] the next match is the next one announced of the team, at home or away', async () => {
    const later = (n: number, over: object) =>
      info({
        matchId: fixtureId(57_000 + n),
        startsAt: instant(world.now() + n * HOUR_MS),
        phase: 'scheduled',
        ...over,
      })
    expect(await profiles().next(team.id, world.now())).toBeNull()
    const other = { id: 2, name: 'Moor', goals: null }
    await new Fixtures(open().db).note([
      later(1, { home: other, away: { id: 3, name: 'Fell', goals: null } }),
      later(3, { home: other, away: { ...team, goals: null } }),
      later(2, { home: { ...team, goals: null }, away: other, phase: 'off' }),
      later(4, { home: { ...team, goals: null }, away: other }),
    ])
    expect(await profiles().next(team.id, world.now())).toMatchObject({ matchId: 57_003 })
  })

  it('[R33] holders are members of the private leagues one shares, who are on the boards and hold now', async () => {
    const { db } = open()
    const leagues = new Leagues(db, world, db)
    const [ann, bob, cat, dan, eve] = await Promise.all(
      ['Ann', 'Bob', 'Cat', 'Dan', 'Eve'].map((name) => season.user(name)),
    )
    const [startsAt, endsAt] = [world.now(), instant(world.now() + DAY_MS)]
    const wanted = { name: 'Friends', startsAt, endsAt, matches: 'all', startingBalance: money(u(1_000)) } as const
    const founded = await leagues.found(present(ann, 'Ann'), wanted)
    if (founded.kind !== 'joined') throw new Error(founded.kind)
    const league = present((await leagues.find(present(ann, 'Ann'), founded.league)) ?? undefined, 'the league')
    for (const one of [bob, cat, dan]) await leagues.join(present(one, 'a member'), league.code)
    const holds = async (user: string | undefined, over: object = {}) =>
      insertPosition(
        db,
        held({
          id: world.newId() as never,
          userId: userId(user ?? ''),
          instrumentId: id,
          fixtureId: matchOf(5),
          ...over,
        }),
      )
    await holds(bob)
    await holds(bob)
    await holds(cat, { direction: 'short' })
    // With the money of a league that Ann is not in.
    await holds(bob, { purse: '01900000-0000-7000-8000-000000000001', direction: 'short' })
    await holds(dan)
    await holds(eve)
    await holds(ann)
    await db.updateTable('users').set({ hidden_from_boards: true }).where('id', '=', present(dan, 'Dan')).execute()
    const seen = async (user: string | undefined, now = startsAt, friends: UserId[] = []) =>
      (await profiles().holders({ reader: userId(user ?? ''), friends }, id, matchOf(5), now)).map(
        ({ direction, league: name }) => [direction, name],
      )
    expect(await seen(ann)).toEqual([
      ['long', 'Friends'],
      ['short', 'Friends'],
    ])
    expect(await seen(eve), 'of no league').toEqual([])
    expect(await seen(ann, endsAt), 'of a league that has ended').toEqual([])
    const friends = [ann, bob, dan, eve].map((one) => userId(one ?? ''))
    expect(await seen(ann, startsAt, friends), 'a friend is named once, and only if they show themselves').toEqual([
      ['long', 'Friends'],
      ['short', 'Friends'],
      ['long', null],
    ])
    await leagues.leave(present(bob, 'Bob'), founded.league)
    expect(await seen(ann)).toEqual([['short', 'Friends']])
    expect(await seen(bob), 'who has left').toEqual([])
  })

  it('[H29] a shared link tells of the last match that visitors have seen the end of, and of no price since', async () => {
    let now = world.now()
    const share = profileShare({
      catalogue: new Catalogue(open().db, world),
      profiles: profiles(),
      world: { now: () => now },
      delayMs: () => MINUTE_MS,
      picture: async (svg) => new TextEncoder().encode(svg),
    })
    expect(await share.of(id)).toMatchObject({
      title: expect.stringMatching(/\+4\.0 %$/),
      text: expect.stringMatching(/^260\.00 after Moor 0–2 Harbour\./),
    })
    now = instant(kickOff(5) + 2 * HOUR_MS + MINUTE_MS - 1)
    expect(await share.of(id)).toMatchObject({ text: expect.stringMatching(/^250\.00 after/) })
    expect(await share.of(world.newId())).toBeNull()
    const drawn = async (of: string) => {
      const png = await share.picture?.(of, AbortSignal.timeout(60_000))
      return png instanceof Uint8Array ? new TextDecoder().decode(png) : png
    }
    expect(await drawn(id)).toContain('>240.00 to 250.00<')
    expect(await drawn(id)).not.toContain('260.00')
    expect(await drawn(world.newId())).toBeNull()

    const links = new Hono().get(share.path, (c) => c.text(c.req.param('parameter') ?? ''))
    expect((await links.request(`/player/${id}`)).status).toBe(200)
    expect((await links.request(`/player/${'-'.repeat(36)}`)).status).toBe(404)
  })
})
