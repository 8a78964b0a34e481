import { beforeAll, expect, it } from 'vitest'
import { fixtureId, positionId, type UserId } from '../../actors/kernel/ids.ts'
import { lots, money, price } from '../../actors/kernel/micros.ts'
import type { MatchEvent } from '../../actors/match/messages.ts'
import type { Position } from '../../actors/position/position.ts'
import { AccountLog } from '../../db/account-log.ts'
import { SqlLeases } from '../../db/leases.ts'
import { SqlMatchStore } from '../../db/match-store.ts'
import { seedDistricts } from '../../db/seed.ts'
import { Users } from '../../db/users.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { held, info, instrument, KICK_OFF, p, u } from '../support/fixtures.ts'
import { TestWorld } from '../support/test-world.ts'
import { EMPTY_PRICING } from '../../actors/market/pricing.ts'

const world = systemWorld()
const MATCH = fixtureId(95_001)

eachDatabase((open) => {
  let commit: (events: readonly MatchEvent[]) => Promise<unknown>
  let users: Users
  const log = () => new AccountLog(open().db, new TestWorld())

  beforeAll(async () => {
    const { db } = open()
    await seedDistricts(db)
    users = new Users(db, world)
    const leases = new SqlLeases(db, { owner: 'test', ttlMs: 60_000, alone: true })
    const epoch = (await leases.acquire(MATCH)) ?? 0
    const store = new SqlMatchStore(open(), new WalletCache(null, () => undefined), new TestWorld())
    const base = { matchId: MATCH, epoch, at: KICK_OFF, ticks: [], keyed: [], watch: [], openPositionsMax: 100 }
    commit = (events) => store.commit({ ...base, id: world.newId(), events, instruments: [] })
    const listed = instrument(1)
    await store.commit({
      ...base,
      id: world.newId(),
      events: [
        { kind: 'match_updated', info: info({ matchId: MATCH }), pricing: EMPTY_PRICING },
        { kind: 'instrument_listed', instrument: listed },
      ],
      instruments: [{ instrument: listed, price: p(200) }],
    })
  })

  let made = 0
  const newUser = async (): Promise<UserId> => {
    const signedIn = await users.signInSynthetic({ displayName: `Reader ${++made}`, districtId: null })
    if (signedIn === null) throw new Error('no district')
    return signedIn.user.id
  }

  const opened = (userId: UserId) =>
    held({ id: positionId(world.newId()), userId, fixtureId: MATCH, lots: lots(u(0.1)) })

  /** Opens, changes, warns and closes, in two commits. */
  async function lived(user: UserId): Promise<Position> {
    const one = opened(user)
    const changed = { ...one, stopLoss: p(150) }
    const warned = { ...changed, warned: 50 } as const
    await commit([
      { kind: 'position_opened', position: one },
      { kind: 'levels_changed', position: changed },
    ])
    await commit([
      { kind: 'margin_warned', position: warned },
      {
        kind: 'position_closed',
        position: {
          ...warned,
          close: { price: p(150), base: p(150), pnl: money(u(-10)), at: KICK_OFF, by: 'stop_loss', voidReason: null },
        },
      },
    ])
    return one
  }

  it('[D8] the events of all purses are one log', async () => {
    const user = await newUser()
    const purses = ['practice', 'main', 'practice'] as const
    for (const purse of purses) await commit([{ kind: 'position_opened', position: { ...opened(user), purse } }])
    const changes = await log().changes(user, 0, 100)
    if (changes?.kind !== 'events') throw new Error('not events')
    expect(changes.events.map(({ marker, position }) => [marker, position.purse])).toEqual([
      [1, 'practice'],
      [2, 'main'],
      [3, 'practice'],
    ])
    const snapshot = await log().changes(user, null, 100)
    if (snapshot?.kind !== 'snapshot') throw new Error('not a snapshot')
    expect(snapshot.positions.map(({ position }) => position.purse)).toEqual(purses)
  })

  it('[D8] each event of a user has the next marker, across batches, and holds the position after it', async () => {
    const user = await newUser()
    const one = await lived(user)
    const changes = await log().changes(user, 0, 100)
    if (changes?.kind !== 'events') throw new Error('not events')
    expect(changes).toMatchObject({ marker: 4, more: false })
    expect(
      changes.events.map((e) => [e.marker, e.kind, e.position.stopLoss, e.position.warned, e.position.close?.by]),
    ).toEqual([
      [1, 'opened', null, 0, undefined],
      [2, 'changed', u(150), 0, undefined],
      [3, 'margin_warning', u(150), 50, undefined],
      [4, 'closed', u(150), 50, 'stop_loss'],
    ])
    expect(changes.events[0]?.position).toEqual(one)
  })

  it('[D8] requesting the events after each marker returns every event once, in order', async () => {
    const user = await newUser()
    await lived(user)
    const seen: number[] = []
    for (let since = 0, more = true; more;) {
      const changes = await log().changes(user, since, 1)
      if (changes?.kind !== 'events') throw new Error('not events')
      seen.push(...changes.events.map((e) => e.marker))
      since = changes.marker
      more = changes.more
    }
    expect(seen).toEqual([1, 2, 3, 4])
    expect(await log().changes(user, 4, 100)).toEqual({ kind: 'events', marker: 4, events: [], more: false })
  })

  it('[D9] without a marker, or with a future or expired one, the open positions are returned instead', async () => {
    const user = await newUser()
    await lived(user)
    const kept = opened(user)
    await commit([{ kind: 'position_opened', position: kept }])
    const snapshot = {
      kind: 'snapshot',
      marker: 5,
      positions: [{ position: kept, currentPrice: p(200), exitPrice: price(u(200) - 500) }],
    }
    expect(await log().changes(user, null, 100)).toEqual(snapshot)
    expect(await log().changes(user, 6, 100)).toEqual(snapshot)
    await open().db.deleteFrom('account_events').where('user_id', '=', user).where('marker', '<=', 2).execute()
    expect(await log().changes(user, 1, 100)).toEqual(snapshot)
    expect(await log().changes(user, 2, 100)).toMatchObject({ kind: 'events', marker: 5 })
  })

  it('[D9] a user without a wallet has no events', async () => {
    expect(await log().changes(world.newId() as UserId, null, 100)).toBeNull()
  })

  it('[D8] the logs of many users are read together, each from its own marker', async () => {
    const [one, other, fresh] = [await newUser(), await newUser(), await newUser()]
    await lived(one)
    await lived(other)
    const unknown = world.newId() as UserId
    const asked = [
      { userId: one, since: 1 },
      { userId: unknown, since: 0 },
      { userId: fresh, since: 0 },
      { userId: other, since: null },
      { userId: one, since: 3 },
      { userId: unknown, since: null },
    ]
    const each = await Promise.all(asked.map(({ userId, since }) => log().changes(userId, since, 2)))
    expect(await log().changesOf(asked, 2)).toEqual(each)
    expect(each.map((changes) => changes && [changes.kind, changes.marker])).toEqual([
      ['events', 3],
      null,
      ['events', 0],
      ['snapshot', 4],
      ['events', 4],
      null,
    ])
  })
})
