/**
 * Private leagues: contests between people who know a code. Each has a purse of its own, in which its members begin
 * with the same balance; what they trade there moves no price and counts nowhere else.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { present } from '../../../actors/kernel/assert.ts'
import { type FixtureId, fixtureId, type LeagueId, leagueId, type UserId, userId } from '../../../actors/kernel/ids.ts'
import { ENTRANTS_MAX, LEAGUES_MAX, MEMBERS_MAX } from '../../../actors/kernel/limits.ts'
import { type Money, money } from '../../../actors/kernel/micros.ts'
import type { CommonPurse } from '../../../actors/kernel/purse.ts'
import { type Instant, instant, type World } from '../../../actors/kernel/world.ts'
import { held } from '../held.ts'
import { admit } from './members.ts'
import { lockUser } from '../../../db/lock-user.ts'
import { bigints } from '../../../db/postgres/arrays.ts'
import { LEAGUE_TABLE } from '../../../db/postgres/league-table.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import type { LeagueTrading } from '../../http/league-purses.ts'
import type { LeagueScope } from '../../../db/postgres/schema/community.ts'

/** 48 bits: a guess that is right once in 10¹³, at ten a minute. */
const CODE_BYTES = 6
/** How long a table is shown again, and how many are: one of 10,000 places takes 17 ms to read, and some megabytes. */
const TABLE_MS = 1_000
const TABLES_MAX = 100

export interface NewLeague {
  readonly name: string
  readonly startsAt: Instant
  readonly endsAt: Instant
  /** What each member begins with. */
  readonly startingBalance: Money
  /** Every match of the main game, every one for practice, those of tournaments, or these. */
  readonly matches: 'all' | 'practice' | 'tournaments' | readonly FixtureId[]
}

/** A month, by its name `2026-11`, and the group of a division in it. */
export interface SeasonGroup {
  readonly id: string
  readonly division: number
  readonly group: number
}

export interface League extends NewLeague {
  readonly id: LeagueId
  readonly kind: 'private' | 'season' | 'tournament'
  /** What members of a private league join with. */
  readonly code: string
  /** Null for a season or tournament. */
  readonly founder: string | null
  /** Which group of which season it is; null unless it is one. */
  readonly season: SeasonGroup | null
  /** Who takes part now. */
  readonly members: number
  /** When its table became final; null before. */
  readonly decidedAt: Instant | null
}

/** A league as one of its members has it. */
export interface OwnLeague extends League {
  readonly joinedAt: Instant
}

export type Joined =
  | { readonly kind: 'joined'; readonly league: LeagueId }
  | { readonly kind: 'unknown' | 'full' | 'over' | 'too_many' }

/** A line of a league's table. */
export interface LeaguePlace {
  readonly rank: number
  readonly userId: UserId
  readonly username: string
  /** What leaving everything now would leave them with; their result once the league is decided. */
  readonly value: Money
  readonly openPositions: number
  /** They are on no board: shown to themselves alone. */
  readonly isOff: boolean
}

/** A line of the table of one match. */
export interface LeagueMatchPlace {
  readonly rank: number
  readonly userId: UserId
  readonly username: string
  /** Of their closed positions in the match. */
  readonly pnl: Money
  readonly closed: number
}

export class Leagues {
  readonly #db: Kysely<Database>
  readonly #reads: Kysely<Database>
  readonly #world: Pick<World, 'now' | 'newId' | 'secret'>
  readonly #tables: ReturnType<typeof held<readonly LeaguePlace[]>>

  /** `reads` may be seconds old. */
  constructor(db: Kysely<Database>, world: Pick<World, 'now' | 'newId' | 'secret'>, reads = db) {
    this.#db = db
    this.#reads = reads
    this.#world = world
    this.#tables = held(TABLE_MS, TABLES_MAX, world)
  }

  /** Founds a league, whose founder joins it. */ // G1
  async found(founder: UserId, league: NewLeague): Promise<Joined> {
    const id = leagueId(this.#world.newId())
    const { matches } = league
    const row = {
      id,
      code: this.#world.secret(CODE_BYTES),
      name: league.name,
      founder_id: founder,
      scope: isScope(matches) ? matches : ('chosen' as const),
      starting_micros: league.startingBalance,
      created_at: new Date(this.#world.now()),
      starts_at: new Date(league.startsAt),
      ends_at: new Date(league.endsAt),
      decided_at: null,
    }
    return this.#db.transaction().execute(async (tx) => {
      if (!(await this.#mayJoin(tx, founder))) return { kind: 'too_many' }
      await tx.insertInto('leagues').values(row).execute()
      if (!isScope(matches)) {
        await sql`
          insert into league_matches (league_id, match_id)
            select ${id}::uuid, match from unnest(${bigints(matches)}::bigint[]) match on conflict do nothing`.execute(
          tx,
        )
      }
      await admit(tx, this.#world, founder, { id, starting: league.startingBalance })
      return { kind: 'joined', league: id }
    })
  }

  /** Joins the league of a code. A repetition changes nothing; who had left is back with the wallet they had. */ // G1
  async join(user: UserId, code: string): Promise<Joined> {
    return this.#db.transaction().execute(async (tx): Promise<Joined> => {
      // Users before leagues: two joins cannot wait for each other.
      const mayJoin = await this.#mayJoin(tx, user)
      const league = await tx
        .selectFrom('leagues')
        .select(['id', 'members', 'ends_at', 'starting_micros'])
        .where('code', '=', code)
        .where('kind', '=', 'private')
        .forUpdate()
        .executeTakeFirst()
      if (league === undefined) return { kind: 'unknown' }
      const joined = { kind: 'joined', league: leagueId(league.id) } as const
      const member = await tx
        .selectFrom('league_members')
        .select('left_at')
        .where('league_id', '=', league.id)
        .where('user_id', '=', user)
        .executeTakeFirst()
      if (member?.left_at === null) return joined
      if (league.ends_at.getTime() <= this.#world.now()) return { kind: 'over' }
      if (!mayJoin) return { kind: 'too_many' }
      if (member !== undefined) {
        await tx
          .updateTable('league_members')
          .set({ left_at: null })
          .where('league_id', '=', league.id)
          .where('user_id', '=', user)
          .execute()
        return joined
      }
      if (league.members >= MEMBERS_MAX) return { kind: 'full' }
      await admit(tx, this.#world, user, { id: joined.league, starting: money(league.starting_micros) })
      return joined
    })
  }

  /**
   * Leaves a private league: its table continues without the user. False if they take no part, it is decided, or it
   * is a season or tournament.
   */ // G2
  async leave(user: UserId, league: LeagueId): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable('league_members')
      .set({ left_at: new Date(this.#world.now()) })
      .where('league_id', '=', league)
      .where('user_id', '=', user)
      .where('left_at', 'is', null)
      .where('rank', 'is', null)
      .where((row) =>
        row.exists(row.selectFrom('leagues').select('id').where('id', '=', league).where('kind', '=', 'private')),
      )
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }

  /** The leagues of a user, the one that ends last first. At most `limit`. */
  async list(user: UserId, limit: number): Promise<readonly OwnLeague[]> {
    const rows = await this.#outlines()
      .innerJoin('league_members as own', 'own.league_id', 'leagues.id')
      .select('own.joined_at')
      .where('own.user_id', '=', user)
      .where('own.left_at', 'is', null)
      .orderBy('ends_at', 'desc')
      .orderBy('leagues.id')
      .limit(limit)
      .execute()
    return rows.map((row) => ({ ...leagueFrom(row), joinedAt: instant(row.joined_at.getTime()) }))
  }

  /** A league of which the user is a member, or null. */
  async find(user: UserId, league: LeagueId): Promise<OwnLeague | null> {
    const row = await this.#outlines()
      .innerJoin('league_members as own', 'own.league_id', 'leagues.id')
      .select('own.joined_at')
      .where('leagues.id', '=', league)
      .where('own.user_id', '=', user)
      .where('own.left_at', 'is', null)
      .executeTakeFirst()
    return row === undefined ? null : { ...leagueFrom(row), joinedAt: instant(row.joined_at.getTime()) }
  }

  /** The private league that is joined by a code; null for an unknown code. */
  async byCode(code: string): Promise<League | null> {
    const row = await this.#outlines().where('code', '=', code).where('kind', '=', 'private').executeTakeFirst()
    return row === undefined ? null : leagueFrom(row)
  }

  /**
   * The table: the final one if the league `isDecided`, and else as of a second ago at most, or of as long ago as a
   * standby is behind, if `member` was in the league by then. All members, in order.
   */ // G3
  async table(league: LeagueId, member?: UserId, isDecided = false): Promise<readonly LeaguePlace[]> {
    const db = isDecided ? this.#db : this.#reads
    const table = await this.#tables(`${league} ${isDecided}`, () => tableOf(db, league))
    const hasJoinedSince = member !== undefined && !table.some((place) => place.userId === member)
    return hasJoinedSince ? tableOf(this.#db, league) : table
  }

  /** The table of one match for a member: who has made what there. Those without a closed position are left out. */
  async matchTable(league: LeagueId, match: FixtureId, member: UserId): Promise<readonly LeagueMatchPlace[]> {
    const { rows } = await sql<{ rank: number; user_id: string; username: string; pnl: number; closed: number }>`
      select rank() over (order by sum(p.pnl_micros) desc)::integer as rank, m.user_id, u.username,
             sum(p.pnl_micros)::bigint as pnl, count(distinct coalesce(p.part_of, p.id))::integer as closed
        from league_members m
        join users u on u.id = m.user_id
        join all_positions p on p.user_id = m.user_id and p.match_id = ${match}::bigint and p.purse = ${league}
                        and p.purse not in ('main', 'practice') and p.closed_at is not null and p.closed_by <> 'void'
       where m.league_id = ${league}::uuid and m.left_at is null and (m.user_id = ${member}::uuid or not u.off_boards)
       group by m.user_id, u.username order by rank, u.username`.execute(this.#reads)
    return rows.map((row) => ({
      rank: row.rank,
      userId: userId(row.user_id),
      username: row.username,
      pnl: money(row.pnl),
      closed: row.closed,
    }))
  }

  /** Whether a user may open a position in a match with the purse of a league now. */ // G4
  async trading(
    user: UserId,
    league: LeagueId,
    match: { readonly id: FixtureId; readonly purse: CommonPurse },
  ): Promise<LeagueTrading> {
    const row = await this.#db
      .selectFrom('league_members as m')
      .innerJoin('leagues as l', 'l.id', 'm.league_id')
      .select(['l.scope', 'l.starts_at', 'l.ends_at'])
      .select([
        sql<boolean>`exists (select from league_matches c
          where c.league_id = ${league}::uuid and c.match_id = ${match.id}::bigint)`.as('chosen'),
        sql<boolean>`exists (select from tournaments t join replays r on r.id = t.replay_id
          where r.match_id = ${match.id}::bigint)`.as('tournament'),
      ])
      .where('m.league_id', '=', league)
      .where('m.user_id', '=', user)
      .where('m.left_at', 'is', null)
      .executeTakeFirst()
    if (row === undefined) return { kind: 'not_member' }
    const [startsAt, endsAt] = [instant(row.starts_at.getTime()), instant(row.ends_at.getTime())]
    const now = this.#world.now()
    if (now < startsAt || now >= endsAt) return { kind: 'not_running', startsAt, endsAt }
    const isIn = {
      all: match.purse === 'main',
      practice: match.purse === 'practice',
      tournaments: row.tournament,
      chosen: row.chosen,
    }[row.scope]
    return { kind: isIn ? 'open' : 'other_match' }
  }

  /** Locks the user and counts their leagues: of two joins at once the second sees the first. */
  async #mayJoin(tx: Transaction<Database>, user: UserId): Promise<boolean> {
    await lockUser(tx, user)
    const { count } = await tx
      .selectFrom('league_members as m')
      .innerJoin('leagues as l', 'l.id', 'm.league_id')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('m.user_id', '=', user)
      .where('m.left_at', 'is', null)
      .where('l.kind', '=', 'private')
      .where('l.ends_at', '>', new Date(this.#world.now()))
      .executeTakeFirstOrThrow()
    return count < LEAGUES_MAX
  }

  #outlines() {
    return this.#db
      .selectFrom('leagues')
      .leftJoin('users as founder', 'founder.id', 'leagues.founder_id')
      .select([
        'leagues.id',
        'kind',
        'season',
        'division',
        'season_group',
        'code',
        'leagues.name',
        'scope',
        'starting_micros',
        'starts_at',
        'ends_at',
        'decided_at',
        'founder.username as founder',
        sql<number>`(select count(*) from league_members m where m.league_id = leagues.id and m.left_at is null)::integer`.as(
          'taking_part',
        ),
        sql<number[]>`array(select c.match_id from league_matches c where c.league_id = leagues.id order by 1)`.as(
          'chosen',
        ),
      ])
  }
}

/** Ranks by value; equals share a rank, as in football. A member whose wallet was lost has nothing. */
export async function tableOf(db: Kysely<Database>, league: LeagueId): Promise<readonly LeaguePlace[]> {
  const { rows } = await sql<{
    place: number
    member: string
    member_name: string
    value: number
    open: number
    hidden: boolean
  }>`
    select * from ${sql.ref(LEAGUE_TABLE.installedAs)}(${league}::uuid, ${ENTRANTS_MAX}::integer)`.execute(db)
  return rows.map((row) => ({
    rank: row.place,
    userId: userId(row.member),
    username: row.member_name,
    value: money(row.value),
    openPositions: row.open,
    isOff: row.hidden,
  }))
}

const isScope = (matches: NewLeague['matches']): matches is Exclude<NewLeague['matches'], readonly FixtureId[]> =>
  typeof matches === 'string'

interface LeagueRow {
  readonly id: string
  readonly kind: League['kind']
  readonly season: string | null
  readonly division: number | null
  readonly season_group: number | null
  readonly code: string
  readonly name: string
  readonly scope: LeagueScope
  readonly starting_micros: number
  readonly starts_at: Date
  readonly ends_at: Date
  readonly decided_at: Date | null
  readonly founder: string | null
  readonly taking_part: number
  readonly chosen: readonly number[]
}

const leagueFrom = (row: LeagueRow): League => ({
  id: leagueId(row.id),
  kind: row.kind,
  season:
    row.season === null
      ? null
      : {
          id: row.season,
          division: present(row.division, 'the division'),
          group: present(row.season_group, 'the group'),
        },
  code: row.code,
  name: row.name,
  startsAt: instant(row.starts_at.getTime()),
  endsAt: instant(row.ends_at.getTime()),
  startingBalance: money(row.starting_micros),
  matches: row.scope === 'chosen' ? row.chosen.map(fixtureId) : row.scope,
  founder: row.founder,
  members: row.taking_part,
  decidedAt: row.decided_at === null ? null : instant(row.decided_at.getTime()),
})
