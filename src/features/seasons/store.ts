/**
 * Seasons: leagues that the server runs for all users, one a month, in groups of a division. A user enters once a
 * season; a user who has traded in one is placed in the next by its result, when it is decided.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { present } from '../../../actors/kernel/assert.ts'
import { DIVISIONS, divisionAfter, GROUP_MAX, outcomeOf, type Season, seasonAt, type SeasonOutcome } from './seasons.ts'
import { withSeasons } from './tables.ts'
import { type LeagueId, leagueId, type UserId } from '../../../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../../../actors/kernel/limits.ts'
import { type Money, money } from '../../../actors/kernel/micros.ts'
import type { World } from '../../../actors/kernel/world.ts'
import { admit } from '../leagues/members.ts'
import type { Decided, LeagueKind } from '../leagues/results.ts'
import type { SeasonGroup } from '../leagues/store.ts'
import { lockUser } from '../../../db/lock-user.ts'
import type { Database } from '../../../db/postgres/schema.ts'

/** A season that a user has finished. */
export interface PastSeason {
  readonly season: SeasonGroup
  readonly league: LeagueId
  readonly rank: number
  readonly members: number
  readonly value: Money
  readonly outcome: SeasonOutcome
}

export type Entered =
  | { readonly kind: 'entered'; readonly league: LeagueId }
  /** Their last season is not decided, which places them in this one. */
  | { readonly kind: 'undecided' }

type SeasonWorld = Pick<World, 'now' | 'newId' | 'secret'>

/** The places of the final table. */
const RANKED = sql<number>`
  (select count(*) from league_members x where x.league_id = l.id and x.rank is not null)::integer`.as('ranked')

/** No user joins by it. */
const CODE_BYTES = 16

export class Seasons {
  readonly #db: Kysely<Database>
  readonly #world: SeasonWorld

  constructor(db: Kysely<Database>, world: SeasonWorld) {
    this.#db = db
    this.#world = world
  }

  /** The season of now. */
  current(): Season {
    return seasonAt(this.#world.now())
  }

  /** The league in which a user plays this season; null before they have entered it. */
  async entry(user: UserId): Promise<LeagueId | null> {
    const row = await withSeasons(this.#db)
      .selectFrom('season_entries')
      .select('league_id')
      .where('season', '=', this.current().id)
      .where('user_id', '=', user)
      .executeTakeFirst()
    return row === undefined ? null : leagueId(row.league_id)
  }

  /**
   * Enters the season of now: in the division of their last result, or the last one. A repetition changes nothing.
   */ // G5
  async enter(user: UserId): Promise<Entered> {
    return this.#db.transaction().execute(async (tx): Promise<Entered> => {
      // The order of locks is user, group; two entries of one user follow one another.
      await lockUser(tx, user)
      const season = this.current()
      const last = await withSeasons(tx)
        .selectFrom('season_entries as e')
        .innerJoin('leagues as l', 'l.id', 'e.league_id')
        .innerJoin('league_members as m', (join) =>
          join.onRef('m.league_id', '=', 'e.league_id').onRef('m.user_id', '=', 'e.user_id'),
        )
        .select(['e.season', 'e.league_id', 'l.division', 'l.decided_at', 'l.starting_micros'])
        .select(['m.rank', 'm.result_micros', RANKED])
        .where('e.user_id', '=', user)
        .orderBy('e.season', 'desc')
        .limit(1)
        .executeTakeFirst()
      if (last === undefined) return { kind: 'entered', league: await place(tx, this.#world, user, DIVISIONS, season) }
      if (last.season === season.id) return { kind: 'entered', league: leagueId(last.league_id) }
      if (last.decided_at === null) return { kind: 'undecided' }
      const division = divisionAfter({
        division: present(last.division, 'the division'),
        rank: present(last.rank, 'the rank'),
        members: last.ranked,
        value: money(present(last.result_micros, 'the result')),
        starting: money(last.starting_micros),
      })
      return { kind: 'entered', league: await place(tx, this.#world, user, division, season) }
    })
  }

  /** The seasons that a user has finished, newest first. At most `limit`. */
  async past(user: UserId, limit: number): Promise<readonly PastSeason[]> {
    const rows = await withSeasons(this.#db)
      .selectFrom('season_entries as e')
      .innerJoin('leagues as l', 'l.id', 'e.league_id')
      .innerJoin('league_members as m', (join) =>
        join.onRef('m.league_id', '=', 'e.league_id').onRef('m.user_id', '=', 'e.user_id'),
      )
      .select(['e.season', 'e.league_id', 'l.division', 'l.season_group', 'l.starting_micros'])
      .select(['m.rank', 'm.result_micros', RANKED])
      .where('e.user_id', '=', user)
      .where('m.rank', 'is not', null)
      .orderBy('e.season', 'desc')
      .limit(limit)
      .execute()
    return rows.map((row) => {
      const division = present(row.division, 'the division')
      const [rank, value] = [present(row.rank, 'the rank'), money(present(row.result_micros, 'the result'))]
      return {
        season: { id: row.season, division, group: present(row.season_group, 'the group') },
        league: leagueId(row.league_id),
        rank,
        members: row.ranked,
        value,
        outcome: outcomeOf({ division, rank, members: row.ranked, value, starting: money(row.starting_micros) }),
      }
    })
  }
}

/** How the groups of seasons are decided. */
export const seasonKind = (world: SeasonWorld): LeagueKind => ({
  name: 'season',
  follow: (tx, decided) => placeAll(tx, world, decided),
  ahead: ({ starting, places, ...group }, member) => {
    const division = present(group.division, 'the division')
    const outcome = outcomeOf({ ...member, division, starting, members: places.length })
    const next = { promoted: division - 1, relegated: division + 1, stays: division }[outcome]
    const way = { promoted: 'You go up to', relegated: 'You go down to', stays: 'You stay in' }[outcome]
    return { words: ` ${way} division ${next}.`, data: { outcome, division: next } }
  },
})

/**
 * Places those in the season of now who have traded in a group that is decided. The caller has written its results in
 * this transaction, so that a group places its members once.
 */ // G5
async function placeAll(tx: Transaction<Database>, world: SeasonWorld, decided: Decided): Promise<void> {
  const { league, starting, places } = decided
  const division = present(decided.division, 'the division')
  const season = seasonAt(world.now())
  const { rows } = await sql<{ user_id: string }>`
    select m.user_id from league_members m join users u on u.id = m.user_id
     where m.league_id = ${league}::uuid and u.erased_at is null
       and exists (select from all_positions p where p.user_id = m.user_id and p.purse = ${league} and p.purse not in ('main', 'practice'))
       and not exists (select from season_entries e where e.season = ${season.id} and e.user_id = m.user_id)
     order by u.id for no key update of u`.execute(tx)
  const active = new Set(rows.map((row) => row.user_id))
  const placed = places
    .filter(({ userId }) => active.has(userId))
    .map(({ userId, rank, value }) => {
      return { userId, next: divisionAfter({ division, rank, members: places.length, value, starting }) }
    })
    // Divisions are locked in one order: two groups that are decided at once cannot wait for each other.
    .toSorted((a, b) => a.next - b.next)
  for (const { userId, next } of placed) await place(tx, world, userId, next, season)
}

/** Makes a user a member of a group of a division that has room, and of a new one if none has. */
async function place(
  tx: Transaction<Database>,
  world: SeasonWorld,
  user: UserId,
  division: number,
  season: Season,
): Promise<LeagueId> {
  // One placement in a division at a time, so that no group is overfull and none is begun too early.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`season ${season.id} ${division}`}, 0))`.execute(tx)
  const last = await tx
    .selectFrom('leagues')
    .select(['id', 'members', 'season_group'])
    .where('season', '=', season.id)
    .where('division', '=', division)
    .orderBy('season_group', 'desc')
    .limit(1)
    .executeTakeFirst()
  const id =
    last === undefined || last.members >= GROUP_MAX
      ? await found(tx, world, season, { id: season.id, division, group: (last?.season_group ?? 0) + 1 })
      : leagueId(last.id)
  await admit(tx, world, user, { id, starting: STARTING_BALANCE })
  await withSeasons(tx)
    .insertInto('season_entries')
    .values({ season: season.id, user_id: user, league_id: id })
    .execute()
  return id
}

async function found(
  tx: Transaction<Database>,
  world: SeasonWorld,
  { name, startsAt, endsAt }: Season,
  { id: season, division, group }: SeasonGroup,
): Promise<LeagueId> {
  const id = leagueId(world.newId())
  await tx
    .insertInto('leagues')
    .values({
      id,
      kind: 'season',
      code: world.secret(CODE_BYTES),
      name: `${name}, division ${division}, group ${group}`,
      founder_id: null,
      scope: 'all',
      starting_micros: STARTING_BALANCE,
      created_at: new Date(world.now()),
      starts_at: new Date(startsAt),
      ends_at: new Date(endsAt),
      decided_at: null,
      season,
      division,
      season_group: group,
    })
    .execute()
  return id
}
