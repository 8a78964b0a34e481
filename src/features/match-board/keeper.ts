/**
 * Keeps the tables of matches. What was closed is read from the outbox, after its commit and beside the reactions, so
 * no trade notices. Of several processes one works on a match; what it has counted and how far are one transaction.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { advance, NEW_CAREER, type Tally } from '../../../actors/community/career.ts'
import type { CommittedEvent } from '../../../actors/community/committed-event.ts'
import { rankKey, stakeOf } from '../../../actors/community/ranking.ts'
import { readCommittedEvents } from '../../../actors/community/read-committed-event.ts'
import { districtId, type FixtureId, fixtureId, type UserId, userId } from '../../../actors/kernel/ids.ts'
import { type Money, money } from '../../../actors/kernel/micros.ts'
import { isCommon } from '../../../actors/kernel/purse.ts'
import { instant } from '../../../actors/kernel/world.ts'
import { bigints, integers, texts, uuids } from '../../../db/postgres/arrays.ts'
import type { Database } from '../../../db/postgres/schema.ts'

/** As for the other boards. */
export interface BoardRules {
  readonly roiFloor: Money
  readonly ranksBots: boolean
}

/** Matches in one look, and commits of one in a transaction. A commit has at most 500 events. */
const MATCHES_MAX = 100
const COMMITS_MAX = 20
/** Places between two steps: as many are counted to find one, which is most of what a reading costs. */
export const STEP = 64
/** The steps of a match are made at most this often while its table changes. */
const STEPS_MS = 5_000

type Counted = Extract<CommittedEvent, { readonly kind: 'closed' | 'corrected' | 'voided' }>

export class MatchBoardKeeper {
  readonly #db: Kysely<Database>
  readonly #rules: () => BoardRules

  constructor(db: Kysely<Database>, rules: () => BoardRules) {
    this.#db = db
    this.#rules = rules
  }

  /** Counts what has been closed since, until nothing is left. A match that fails holds up no other. */
  async run(): Promise<void> {
    const failures: unknown[] = []
    for (const match of await this.#behind()) {
      try {
        while (await this.#count(match));
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  /** Matches whose tables are behind their outbox, or their steps behind their tables. */
  async #behind(): Promise<readonly FixtureId[]> {
    const { rows } = await sql<{ match_id: number }>`
      (select c.match_id from outbox_cursors c left join match_boards b on b.match_id = c.match_id
        where (not c.finished or c.seq > coalesce(b.seq, 0))
          and (select max(seq) from outbox where match_id = c.match_id) > coalesce(b.seq, 0)
        limit ${MATCHES_MAX}::integer)
      union
      (select match_id from match_boards where not is_stepped and ${isStepDue} limit ${MATCHES_MAX}::integer)`.execute(
      this.#db,
    )
    return rows.map((row) => fixtureId(row.match_id))
  }

  /** Counts the next commits of a match. False when there are no more, or another process is at work on it. */
  async #count(match: FixtureId): Promise<boolean> {
    return this.#db.transaction().execute(async (tx) => {
      await sql`insert into match_boards (match_id) values (${match}::bigint) on conflict do nothing`.execute(tx)
      const { rows: locked } = await sql<{ seq: number }>`
        select seq from match_boards where match_id = ${match}::bigint for update skip locked`.execute(tx)
      const [board] = locked
      if (board === undefined) return false
      const { rows } = await sql<{ seq: number; events: unknown }>`
        select seq, events from outbox where match_id = ${match}::bigint and seq > ${board.seq}::bigint
         order by seq limit ${COMMITS_MAX}::integer`.execute(tx)
      const events = rows.flatMap(({ seq, events: of }) => readCommittedEvents(of, `match ${match}, commit ${seq}`))
      const isFinal = events.some(({ kind }) => kind === 'match_settled')
      const changed = await this.#add(tx, match, events.filter(isCounted))
      await sql`
        update match_boards
           set seq = ${rows.at(-1)?.seq ?? board.seq}::bigint, is_final = (is_final or ${isFinal}::boolean) and ${isSettled},
               is_stepped = is_stepped and not ${changed}::boolean
         where match_id = ${match}::bigint`.execute(tx)
      if (rows.length === COMMITS_MAX) return true
      await this.#step(tx, match)
      return false
    })
  }

  /** Whether anything has changed. */ // R27
  async #add(tx: Transaction<Database>, match: FixtureId, events: readonly Counted[]): Promise<boolean> {
    if (events.length === 0) return false
    const tallies = await talliesOf(tx, match, [...new Set(events.map((event) => event.userId))])
    for (const event of events) {
      const known = tallies.get(event.userId)
      if (known === undefined) continue
      known.tally = after(known.tally, event)
    }
    const { roiFloor } = this.#rules()
    const changed = [...tallies].map(([user, { tally, district }]) => {
      const stake = stakeOf(tally.margin, roiFloor)
      const firstTradeAt = tally.firstTradeAt ?? instant(0)
      const standing = { ...tally, userId: user, districtId: districtId(district), stake, firstTradeAt, version: 0 }
      return { user, district, tally, stake, key: bigints(rankKey('roi', standing)) }
    })
    const column = (of: (one: (typeof changed)[number]) => number) => bigints(changed.map(of))
    await sql`
      insert into match_board_places as p
             (user_id, match_id, district_id, closed, wins, pnl_micros, base_moves_micros, margin_micros, stake_micros,
              first_trade_at, key, shown)
        select n.user_id, ${match}::bigint, n.district_id, n.closed, n.wins, n.pnl, n.moves, n.margin, n.stake,
               to_timestamp(n.first_at / 1000.0), n.key::bigint[], n.closed > 0 and not ${this.#isOff()}
          from unnest(${uuids(changed.map(({ user }) => user))}::uuid[], ${integers(changed.map((c) => c.district))}::integer[],
                      ${integers(changed.map((c) => c.tally.closed))}::integer[],
                      ${integers(changed.map((c) => c.tally.wins))}::integer[], ${column((c) => c.tally.pnl)}::bigint[],
                      ${column((c) => c.tally.baseMoves)}::bigint[], ${column((c) => c.tally.margin)}::bigint[],
                      ${column((c) => c.stake)}::bigint[],
                      ${bigints(changed.map((c) => c.tally.firstTradeAt))}::bigint[],
                      ${texts(changed.map((c) => c.key))}::text[])
               n (user_id, district_id, closed, wins, pnl, moves, margin, stake, first_at, key)
          join users u on u.id = n.user_id
      on conflict (user_id, match_id) do update
        set district_id = excluded.district_id, closed = excluded.closed, wins = excluded.wins,
            pnl_micros = excluded.pnl_micros, base_moves_micros = excluded.base_moves_micros,
            margin_micros = excluded.margin_micros, stake_micros = excluded.stake_micros,
            first_trade_at = excluded.first_trade_at, key = excluded.key, shown = excluded.shown`.execute(tx)
    return true
  }

  /** Shows those who are on the boards now, by the floor of now, and makes the steps; nothing while neither is due. */
  async #step(tx: Transaction<Database>, match: FixtureId): Promise<void> {
    const { rows } = await sql`
      select from match_boards where match_id = ${match}::bigint and not is_stepped and (is_final or ${isStepDue})`.execute(
      tx,
    )
    if (rows.length === 0) return
    await sql`
      update match_board_places p set shown = not p.shown from users u
       where p.match_id = ${match}::bigint and u.id = p.user_id
         and p.shown <> (p.closed > 0 and not ${this.#isOff()})`.execute(tx)
    // The floor may have changed while the match was played. Rounded as `roiPpm` does.
    const stake = sql`greatest(margin_micros, ${this.#rules().roiFloor}::bigint)`
    await sql`
      update match_board_places
         set stake_micros = ${stake},
             key[1] = -round(coalesce(base_moves_micros * 1000000::numeric / nullif(${stake}, 0), 0))
       where match_id = ${match}::bigint and stake_micros <> ${stake}`.execute(tx)
    await sql`delete from match_board_steps where match_id = ${match}::bigint`.execute(tx)
    const places = (district: string, window: string) => sql`
      select match_id, ${sql.raw(district)} as district_id, key, user_id,
             (row_number() over (${sql.raw(window)} order by key, user_id) - 1)::integer as ahead
        from match_board_places where match_id = ${match}::bigint and shown`
    await sql`
      insert into match_board_steps (match_id, district_id, key, user_id, ahead)
        select * from (${places('0', '')} union all ${places('district_id', 'partition by district_id')}) n
         where ahead > 0 and ahead % ${STEP}::integer = 0`.execute(tx)
    await sql`
      update match_boards set is_stepped = true, stepped_at = clock_timestamp()
       where match_id = ${match}::bigint`.execute(tx)
  }

  #isOff() {
    return isOffBoards(this.#rules())
  }
}

/** Of a row of match_boards: a fixture that was void may be played again. */
export const isSettled = sql<boolean>`exists (select from matches m where m.id = match_id and m.settled_at is not null)`

/** A step that lies ahead was made by a clock that was. */
const isStepDue = sql`
  (stepped_at <= clock_timestamp() - make_interval(secs => ${STEPS_MS / 1_000}::float8)
   or stepped_at > clock_timestamp())`

/** Whether a user, `u`, is on no board. */
const isOffBoards = ({ ranksBots }: BoardRules) =>
  sql<boolean>`${sql.raw(ranksBots ? 'u.off_boards' : '(u.off_boards or u.bot_since is not null)')}`

const isCounted = (event: CommittedEvent): event is Counted =>
  (event.kind === 'closed' || event.kind === 'corrected' || event.kind === 'voided') && isCommon(event.purse)

/** What a career counts, of this match alone. */
function after(tally: Tally, event: Counted): Tally {
  const career = advance({ ...NEW_CAREER, main: tally, practice: tally }, event)
  return event.purse === 'practice' ? career.practice : career.main
}

interface Known {
  tally: Tally
  readonly district: number
}

/** What these users have closed in a match so far. Those who are not in the database are left out. */
async function talliesOf(
  tx: Transaction<Database>,
  match: FixtureId,
  users: readonly UserId[],
): Promise<ReadonlyMap<UserId, Known>> {
  const { rows } = await sql<{
    id: string
    district_id: number
    closed: number | null
    wins: number | null
    pnl_micros: number | null
    base_moves_micros: number | null
    margin_micros: number | null
    first_trade_at: Date | null
  }>`
    select u.id, u.district_id, p.closed, p.wins, p.pnl_micros, p.base_moves_micros, p.margin_micros, p.first_trade_at
      from users u left join match_board_places p on p.user_id = u.id and p.match_id = ${match}::bigint
     where u.id = any(${uuids(users)}::uuid[])`.execute(tx)
  return new Map(
    rows.map((row) => [
      userId(row.id),
      {
        district: row.district_id,
        tally: {
          closed: row.closed ?? 0,
          wins: row.wins ?? 0,
          pnl: money(row.pnl_micros ?? 0),
          baseMoves: money(row.base_moves_micros ?? 0),
          margin: money(row.margin_micros ?? 0),
          firstTradeAt: row.first_trade_at === null ? null : instant(row.first_trade_at.getTime()),
        },
      },
    ]),
  )
}
