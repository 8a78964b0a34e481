import { expect, it, vi } from 'vitest'
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import type { UserId } from '../../actors/kernel/ids.ts'
import { REFERRAL_REWARD, STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import type { ClosedEvent } from '../../actors/community/committed-event.ts'
import type { ReferralTerms } from '../../actors/community/referral.ts'
import { committedEvents } from '../../actors/match/committed-events.ts'
import type { MatchEvent } from '../../actors/match/messages.ts'
import type { Commit } from '../../db/outbox.ts'
import { connect } from '../../db/postgres/connect.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { ReactionTx } from '../../db/reaction-tx.ts'
import { chanceFrom } from '../../actors/replay/chance.ts'
import { creditWaiting, react, reactionUnder } from '../../src/reactions/react.ts'
import { systemWorld } from '../../src/system-world.ts'
import { createMigrated } from '../../ops/rehearse/rig/migrated.ts'
import { onPostgres } from '../support/databases.ts'
import { openSeason, type Season } from '../support/season.ts'

const CROWD = 10_000
const REFERRERS = 100
/** Everybody's first close counts, whenever it is. */
const TERMS: ReferralTerms = { closesMin: 1, daysMin: 1, weeklyMax: CROWD }
const world = systemWorld()
const chance = chanceFrom(19)

onPostgres((server) => {
  async function onDatabase(work: (connection: Connection, season: Season) => Promise<void>): Promise<void> {
    const { url, drop } = await createMigrated(server)
    const connection = await connect({ databaseUrl: url, dataDir: null, statementTimeoutMs: 60_000 })
    try {
      await work(connection, await openSeason(connection, world))
    } finally {
      await connection.close()
      await drop()
    }
  }

  async function crowdOf(season: Season, count: number): Promise<UserId[]> {
    const users: UserId[] = []
    for (let from = 0; from < count; from += 1_000) {
      const names = Array.from({ length: Math.min(1_000, count - from) }, (_, n) => `Crowd ${from + n}`)
      users.push(...(await season.users.createSyntheticMany(names)).map(({ user }) => user.id))
    }
    return users
  }

  /** Everybody opens ten lots in one commit, and wins 500 units at full time in another. */
  async function fullTimeFor(users: readonly UserId[], season: Season): Promise<void> {
    const match = await season.match()
    const positions = users.map((user) => match.position(user, { lots: 10 }))
    await match.commit(positions.map((position) => ({ kind: 'position_opened', position })))
    await match.commit(positions.map((position) => match.closed(position, 210, 'full_time')))
    await match.settle()
  }

  const refer = ({ db }: Connection, users: readonly UserId[]) =>
    sql`
    insert into referrals (id, referrer_id, referee_id, created_at, registered_at)
      select gen_random_uuid(), (${users}::uuid[])[1 + n % ${REFERRERS}::integer], (${users}::uuid[])[n], now(), now()
        from generate_series(${REFERRERS + 1}::integer, ${users.length}::integer) n`.execute(db)

  /** Everything that the reactions to that crowd must have written, counted. */
  async function expectAll(connection: Connection, season: Season, users: readonly UserId[]): Promise<void> {
    const { rows } = await sql`
      select (select count(*) from careers where opened = 1 and closed = 1 and wins = 1) as careers,
             (select count(*) from users u join careers c on c.user_id = u.id where u.xp = c.xp and u.xp > 0) as levels,
             (select count(*) from user_badges) as badges,
             (select count(*) from notifications where type = 'settlement') as settlements,
             (select count(*) from notifications where type = 'badge') as badge_notices,
             (select count(*) from notifications where type = 'referral_credited') as credit_notices,
             (select count(*) from activity where type = 'big_win') as wins,
             (select count(*) from activity where type = 'badge') as badge_headlines,
             (select count(*) from week_scores where closed = 1) as weeks,
             (select count(*) from trade_days) as days,
             (select count(*) from board_changes) as board_changes,
             (select count(*) from referrals where credited_at is not null) as credits`.execute(connection.db)
    // First whistle, off the mark, screamer and big signing; for 99 friends two more.
    const badges = 4 * users.length + 2 * REFERRERS
    expect(rows).toEqual([
      {
        careers: users.length,
        levels: users.length,
        badges,
        settlements: users.length,
        badge_notices: badges,
        credit_notices: users.length - REFERRERS,
        wins: users.length,
        badge_headlines: badges,
        weeks: users.length,
        days: 2 * users.length,
        board_changes: users.length,
        credits: users.length - REFERRERS,
      },
    ])
    await season.keeper.show()
    expect((await season.boards.main.top({ by: 'roi', districtId: null }, 1)).total).toBe(users.length)
    const each = (users.length - REFERRERS) / REFERRERS
    expect((await season.wallets.find(present(users[0], 'a referrer')))?.balance).toBe(
      STARTING_BALANCE + 500_000_000 + each * REFERRAL_REWARD,
    )
    expect(await season.wallets.auditLedger()).toMatchObject({
      imbalanceMicros: 0,
      unbalancedTransactions: 0,
      mismatchedWallets: 0,
    })
  }

  it(
    '[R2] a commit of 10,000 closes is reacted to in bounded transactions, each event once',
    { timeout: 240_000 },
    () =>
      onDatabase(async (connection, season) => {
        const users = await crowdOf(season, CROWD)
        await refer(connection, users)
        await fullTimeFor(users, season)
        const pieces: number[] = []
        const reaction = reactionUnder(() => TERMS)
        for (;;) {
          const reacted = await season.outbox.react(async (commits, effects) => {
            pieces.push(commits.reduce((sum, { events }) => sum + events.length, 0))
            await reaction(commits, effects)
          })
          if (reacted === null) break
          expect(reacted).toMatchObject({ kind: 'reacted' })
        }
        expect(pieces.reduce((a, b) => a + b)).toBe(2 * CROWD + 1)
        expect(Math.max(...pieces)).toBeLessThanOrEqual(1_500)
        await expectAll(connection, season, users)
      }),
  )

  it('[R2] no reaction depends on how many events it is given at once', { timeout: 240_000 }, () =>
    onDatabase(async (connection, season) => {
      const users = await crowdOf(season, CROWD)
      await refer(connection, users)
      await fullTimeFor(users, season)
      // All commits of the match in one transaction: every statement has 10,000 rows or more.
      const commits: Commit[] = []
      while ((await season.outbox.react(async (some) => void commits.push(...some))) !== null);
      expect(commits.flatMap(({ events }) => events)).toHaveLength(2 * CROWD + 1)
      await connection.db.transaction().execute((tx) => react(commits, new ReactionTx(tx, season.cache, world), TERMS))
      // A reaction credits 500 referrals at most, and a task the rest.
      for (let n = 0; n < CROWD / 500; n++) {
        await connection.db
          .transaction()
          .execute((tx) => creditWaiting(new ReactionTx(tx, season.cache, world), world.now(), TERMS))
      }
      await expectAll(connection, season, users)
    }),
  )

  it('[R2] reactions and the boards never wait for each other in a circle', () =>
    onDatabase(async ({ db }, season) => {
      const users = (await crowdOf(season, 600)).toSorted(() => chance.uniform() - 0.5)
      let isOver = false
      const save = async (of: readonly UserId[]): Promise<void> => {
        for (let round = 0; round < 20; round++) {
          await db.transaction().execute(async (tx) => {
            const effects = new ReactionTx(tx, season.cache, world)
            const known = await effects.lockUsers(of.toSorted(() => chance.uniform() - 0.5))
            const careers = [...known].map(
              ([user, { career }]) =>
                [user, { ...career, main: { ...career.main, closed: career.main.closed + 1 } }] as const,
            )
            await effects.saveCareers(new Map(careers.toSorted(() => chance.uniform() - 0.5)))
          })
        }
      }
      const show = async (): Promise<void> => {
        while (!isOver) {
          const changes = await season.careers.changed(1_000)
          await season.careers.shown(changes.toSorted(() => chance.uniform() - 0.5))
        }
      }
      const showing = [show(), show()]
      await Promise.all([save(users), save(users.slice(0, 400)), save(users.slice(200))])
      isOver = true
      await Promise.all(showing)
      const { rows } = await sql`select sum(closed) as closed from careers`.execute(db)
      expect(rows).toEqual([{ closed: 20 * (600 + 400 + 400) }])
    }))

  it('[R2] the boards are locked in the order of users, whether something was closed or voided', () =>
    onDatabase(async ({ db }, season) => {
      const [emptied, winner] = (await crowdOf(season, 2)).toSorted()
      const match = await season.match()
      const position = match.position(present(emptied, 'user'))
      await match.commit([{ kind: 'position_opened', position }])
      await match.close(position, 210)
      await season.reactor.drain()
      const lock = (tx: typeof db, user: UserId | undefined) =>
        sql`select from board_changes where user_id = ${user} for update`.execute(tx)
      // Both on the list; the last close of the first user is voided while the second closes one.
      await sql`insert into board_changes values (${winner}, 0)`.execute(db)
      const won = closedEvent(match.closed(match.position(present(winner, 'user')), 210))
      const { voidReason: _, ...lost } = closedEvent(match.closed(position, 210))
      const voided = {
        ...lost,
        kind: 'voided' as const,
        before: { pnl: lost.pnl, baseMove: lost.baseMove },
        closedAt: world.now(),
      }
      const commit: Commit = { matchId: match.id, seq: 3, at: world.now(), events: [won, voided] }
      const reacting = await db.transaction().execute(async (shown) => {
        await lock(shown, emptied)
        const reaction = db
          .transaction()
          .execute((tx) => react([commit], new ReactionTx(tx, season.cache, world), TERMS))
          .then(
            () => 'done',
            (error: unknown) => error,
          )
        await vi.waitUntil(async () => (await waitingForLocks(db)) > 0, { timeout: 10_000 })
        // It holds nothing that comes later.
        await lock(shown, winner)
        return { reaction }
      })
      expect(await reacting.reaction).toBe('done')
      const careers = await sql`select user_id, closed from careers order by user_id`.execute(db)
      expect(careers.rows).toEqual([
        { user_id: emptied, closed: 0 },
        { user_id: winner, closed: 1 },
      ])
      const { rows } = await sql`
        select b.user_id, b.version = c.version as current
          from board_changes b join careers c using (user_id) order by user_id`.execute(db)
      expect(rows).toEqual([
        { user_id: emptied, current: true },
        { user_id: winner, current: true },
      ])
    }))
})

async function waitingForLocks(db: Connection['db']): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`
    select count(*) as waiting from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
  return present(rows[0], 'count').waiting
}

/** The outbox's event of a close. */
function closedEvent(event: MatchEvent): ClosedEvent {
  const [closed] = committedEvents([event])
  if (closed?.kind !== 'closed') throw new Error('not a close')
  return closed
}
