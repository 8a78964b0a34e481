/** The weekly spinner: the seed promised for a week, its leaders, and its decision when it is over. */
import { createHash, createHmac } from 'node:crypto'
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import { districtId, type DistrictId, instrumentId, type UserId, userId } from '../../../actors/kernel/ids.ts'
import { price } from '../../../actors/kernel/micros.ts'
import { as, fieldsOf, integer, listOf, type Reader, text } from '../../../actors/kernel/read.ts'
import { type Instant, instant, MINUTE_MS, SECOND_MS, type World } from '../../../actors/kernel/world.ts'
import { spinnerHeadline, spinnerNotices } from '../../../actors/community/notices.ts'
import { drawn, drawText, type DrawTerms, type SettledBase } from '../../../actors/community/spinner.ts'
import { type Week, weekAfter, weekBefore, weekOf } from '../../../actors/kernel/calendar.ts'
import { insertHeadlines, insertNotices, type Notification } from '../../../db/announcements.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import { type SpinnerWeeksTable, withSpinner } from './tables.ts'

export interface Candidate {
  readonly userId: UserId
  readonly username: string
  readonly districtId: DistrictId
  readonly roiHundredths: number
  readonly winPpm: number
  readonly closed: number
}

export interface SpinnerWeek extends Week {
  /** Tied: two or more users lead with equal results. Decided: the week is over, and any draw has been made. */
  readonly status: 'open' | 'tied' | 'decided'
  readonly candidates: readonly Candidate[]
  readonly winner: Candidate | null
  /** Null when the week ended without a seed. */
  readonly seedHash: string | null
  /** When the hash was published. */
  readonly publishedAt: Instant | null
  /** Published with the decision. */
  readonly seed: string | null
  /**
   * Of a decided week: the bases at which its last live match settled, which the draw is made with too; empty for none.
   */
  readonly bases: readonly SettledBase[]
  readonly decidedAt: Instant | null
}

export interface CurrentWeek extends SpinnerWeek {
  /** Decided or not; null when no process ran then to promise a seed. */
  readonly previous: SpinnerWeek | null
}

export type SpinnerRun =
  | { readonly kind: 'decided'; readonly week: SpinnerWeek; readonly notifications: readonly Notification[] }
  /** Closes of that week may still be being processed. */
  | { readonly kind: 'counting'; readonly retryAfterSecs: number }

/** A commit decided before midnight is durable a minute later, or never. */
const GRACE_MS = MINUTE_MS
const COUNTING_RETRY_SECS = 2
const SEED_BYTES = 32

/** Asked for every decision, so that a changed setting counts. */
export interface DrawOptions {
  readonly terms: () => DrawTerms
}

export class Spinner {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now' | 'secret'>
  readonly #options: DrawOptions

  constructor(db: Kysely<Database>, world: Pick<World, 'now' | 'secret'>, options: DrawOptions) {
    this.#db = db
    this.#world = world
    this.#options = options
  }

  /**
   * Promises seeds for this week, which it returns, and the next, so that an outage at the turn of the week breaks no
   * promise.
   */
  async prepare(): Promise<Week> {
    const now = this.#world.now()
    const week = weekOf(now)
    await this.#promise([week, weekAfter(week)], now)
    return week
  }

  /** The current week, with its leaders, and the one before. */
  async current(): Promise<CurrentWeek> {
    const week = await this.prepare()
    return { ...(await this.#look(week)), previous: await this.#lookIfKept(weekBefore(week)) }
  }

  /** Decided weeks, newest first. */
  async history(limit: number, before?: Instant): Promise<readonly SpinnerWeek[]> {
    const rows = await withSpinner(this.#db)
      .selectFrom('spinner_weeks')
      .selectAll()
      .where('decided_at', 'is not', null)
      .$if(before !== undefined, (weeks) => weeks.where('starts_at', '<', new Date(Number(before))))
      .orderBy('starts_at', 'desc')
      .limit(limit)
      .execute()
    return Promise.all(rows.map((row) => this.#decided(row)))
  }

  /** Does what `run` does if a week that was promised a seed is over and undecided; null otherwise. */
  async runIfDue(): Promise<SpinnerRun | null> {
    const due = await this.#undecided(weekOf(this.#world.now()))
    return due.length === 0 ? null : this.run()
  }

  /**
   * Decides the last week, and any undecided one before it. Of concurrent calls one decides; the others, and all later
   * ones, get its decision.
   */
  async run(): Promise<SpinnerRun> {
    const now = this.#world.now()
    const running = weekOf(now)
    const graceMs = running.startsAt + GRACE_MS - now
    if (graceMs > 0) return { kind: 'counting', retryAfterSecs: Math.ceil(graceMs / SECOND_MS) }
    const last = weekBefore(running)
    await this.#keepWithoutSeed(last)
    const due = await this.#undecided(running)
    // Asked by any user, and a search over all that is open: of a decided week it would change nothing.
    if (due.length > 0 && (await this.#isBehind(running))) {
      return { kind: 'counting', retryAfterSecs: COUNTING_RETRY_SECS }
    }
    const notifications: Notification[] = []
    for (const week of due) {
      notifications.push(...(await this.#db.transaction().execute((tx) => this.#decide(tx, week, now))))
    }
    return { kind: 'decided', week: await this.#look(last), notifications }
  }

  /** Oldest first. */
  async #undecided(running: Week): Promise<readonly Week[]> {
    const rows = await withSpinner(this.#db)
      .selectFrom('spinner_weeks')
      .select('starts_at')
      .where('decided_at', 'is', null)
      .where('starts_at', '<', new Date(running.startsAt))
      .orderBy('starts_at')
      .execute()
    return rows.map((row) => weekOf(instant(row.starts_at.getTime())))
  }

  async #promise(weeks: readonly Week[], now: Instant): Promise<void> {
    const at = new Date(now)
    const rows = weeks.map(({ name, startsAt }) => {
      const seed = this.#world.secret(SEED_BYTES)
      return { week: name, starts_at: new Date(startsAt), seed, seed_hash: sha256(seed), published_at: at }
    })
    await withSpinner(this.#db)
      .insertInto('spinner_weeks')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }

  /** A seed made after the week could be chosen to favour a user. Such a week is decided without one. */
  async #keepWithoutSeed({ name, startsAt }: Week): Promise<void> {
    await withSpinner(this.#db)
      .insertInto('spinner_weeks')
      .values({ week: name, starts_at: new Date(startsAt) })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }

  /**
   * Whether a position of the main purse opened before this week is still open, or its close has not been counted yet.
   * They are asked in this order: a close is in the outbox from the moment that its position is closed.
   */ // R11
  async #isBehind(running: Week): Promise<boolean> {
    const { rows: held } = await sql`
      select 1 from positions p
       where p.closed_at is null and p.purse = 'main' and p.opened_at < ${new Date(running.startsAt)}::timestamptz
         and not exists (select from unpaid_closes u where u.position_id = p.id)
       limit 1`.execute(this.#db)
    if (held.length > 0) return true
    // Protection: news may still move a close. In a match that is over it moves none.
    const { rows: movable } = await sql`
      select 1 from matches m join positions p on p.match_id = m.id
       where m.settled_at is null and p.movable_until > ${new Date(this.#world.now())}::timestamptz
         and p.purse = 'main' and p.opened_at < ${new Date(running.startsAt)}::timestamptz limit 1`.execute(this.#db)
    if (movable.length > 0) return true
    const { rows } = await sql`
      select 1
        from (select o.events from outbox_cursors c join outbox o on o.match_id = c.match_id and o.seq > c.seq
               where not c.finished
              union all
              select o.events from outbox_failures join outbox o using (match_id, seq)) uncounted
       where exists (select from json_array_elements(events) e
                      where (e->>'openedAt')::bigint < ${running.startsAt}::bigint and e->>'purse' = 'main')
       limit 1`.execute(this.#db)
    return rows.length > 0
  }

  async #decide(tx: Transaction<Database>, week: Week, at: Instant): Promise<readonly Notification[]> {
    const row = await withSpinner(tx)
      .selectFrom('spinner_weeks')
      .select(['seed', 'decided_at'])
      .where('week', '=', week.name)
      .forUpdate()
      .executeTakeFirstOrThrow()
    if (row.decided_at !== null) return []
    const candidates = await leadersOf(tx, week, this.#options)
    const users = candidates.map((candidate) => candidate.userId)
    const bases = await settledBases(tx, week)
    const winner = winnerOf({ seed: row.seed, week, users, bases })
    await withSpinner(tx)
      .updateTable('spinner_weeks')
      .set({
        candidates: JSON.stringify(candidates),
        entropy: JSON.stringify(bases),
        winner_id: winner,
        decided_at: new Date(at),
      })
      .where('week', '=', week.name)
      .execute()
    const won = candidates.find((candidate) => candidate.userId === winner)
    if (won === undefined || winner === null) return []
    await insertHeadlines(tx, [{ ...spinnerHeadline(week.name, winner, at), districtId: won.districtId }])
    return insertNotices(tx, spinnerNotices(week.name, users, winner, at))
  }

  async #lookIfKept(week: Week): Promise<SpinnerWeek | null> {
    const row = await withSpinner(this.#db)
      .selectFrom('spinner_weeks')
      .select('week')
      .where('week', '=', week.name)
      .executeTakeFirst()
    return row === undefined ? null : this.#look(week)
  }

  async #look(week: Week): Promise<SpinnerWeek> {
    const row = await withSpinner(this.#db)
      .selectFrom('spinner_weeks')
      .selectAll()
      .where('week', '=', week.name)
      .executeTakeFirstOrThrow()
    if (row.decided_at !== null) return this.#decided(row)
    const candidates = await leadersOf(this.#db, week, this.#options)
    return {
      ...week,
      status: candidates.length > 1 ? 'tied' : 'open',
      candidates,
      winner: null,
      ...promiseFrom(row),
      seed: null,
      bases: [],
      decidedAt: null,
    }
  }

  async #decided(row: Selectable<SpinnerWeeksTable>): Promise<SpinnerWeek> {
    const candidates = readCandidates(row.candidates, `spinner week ${row.week}: candidates`)
    return {
      ...weekOf(instant(row.starts_at.getTime())),
      status: 'decided',
      candidates,
      winner: candidates.find((candidate) => candidate.userId === row.winner_id) ?? null,
      ...promiseFrom(row),
      seed: row.seed,
      bases: readBases(row.entropy, `spinner week ${row.week}: entropy`),
      decidedAt: row.decided_at === null ? null : instant(row.decided_at.getTime()),
    }
  }
}

const readCandidate: Reader<Candidate> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    userId: field('userId', as(text, userId)),
    username: field('username', text),
    districtId: field('districtId', as(integer, districtId)),
    roiHundredths: field('roiHundredths', integer),
    winPpm: field('winPpm', integer),
    closed: field('closed', integer),
  }
}
const readCandidates = listOf(readCandidate)
const readBases = listOf<SettledBase>((value, path) => {
  const field = fieldsOf(value, path)
  return { instrumentId: field('instrumentId', as(text, instrumentId)), base: field('base', as(integer, price)) }
})

const promiseFrom = ({
  seed_hash,
  published_at,
}: Pick<Selectable<SpinnerWeeksTable>, 'seed_hash' | 'published_at'>) => ({
  seedHash: seed_hash,
  publishedAt: published_at === null ? null : instant(published_at.getTime()),
})

interface Draw {
  readonly seed: string | null
  readonly week: Week
  readonly users: readonly UserId[]
  readonly bases: readonly SettledBase[]
}

/** A sole leader needs no draw. Without a seed there is none. */ // R12
function winnerOf({ seed, week, users, bases }: Draw): UserId | null {
  if (users.length === 1) return users[0] ?? null
  if (seed === null) return null
  return drawn(
    createHmac('sha256', seed)
      .update(drawText(week.name, users, bases))
      .digest('hex'),
    users,
  )
}

/** The bases at which the last live match that settled in the week did so. Recordings were known before. */
async function settledBases(tx: Transaction<Database>, { startsAt, endsAt }: Week): Promise<readonly SettledBase[]> {
  const { rows } = await sql<{ instrument_id: string; base_micros: number }>`
    with settled as (
      select t.at, t.instrument_id, t.base_micros
        from ticks t join instruments i on i.id = t.instrument_id join matches m on m.id = i.match_id
       where t.cause = 'settlement' and not m.replay
         and t.at >= ${new Date(startsAt)}::timestamptz and t.at < ${new Date(endsAt)}::timestamptz
    )
    select instrument_id, base_micros from settled
     where at = (select max(at) from settled) order by instrument_id`.execute(tx)
  return rows.map((row) => ({ instrumentId: instrumentId(row.instrument_id), base: price(row.base_micros) }))
}

const sha256 = (input: string): string => createHash('sha256').update(input).digest('hex')

/**
 * The users whose ROI (two decimals) and win rate are the best of the week. Candidates tie when users see the same
 * figure. Computed from the sums, so that a changed floor counts at once.
 */ // R13
async function leadersOf(db: Kysely<Database>, week: Week, options: DrawOptions): Promise<readonly Candidate[]> {
  const { closesMin, playersMin, roiFloor, ranksBots = false } = options.terms()
  const { rows } = await sql<{
    user_id: string
    username: string
    district_id: number
    roi_hundredths: number
    win_ppm: number
    closed: number
  }>`
    with eligible as (
      select user_id, closed, round(wins * 1000000::numeric / closed)::integer as win_ppm,
             round(base_moves_micros * 10000::numeric / greatest(margin_micros, ${roiFloor}::bigint, 1))::bigint
               as roi_hundredths
        from week_scores
       where week = ${week.name}::text
         and not exists (select from users u where u.id = user_id and u.off_boards)
         and (${ranksBots}::boolean or not exists (
           select from users u where u.id = user_id and u.bot_since < ${new Date(week.endsAt)}::timestamptz))
         and closed >= ${closesMin}::integer and cardinality(players) >= ${playersMin}::integer
    ), ranked as (
      select *, rank() over (order by roi_hundredths desc, win_ppm desc) from eligible
    )
    select s.user_id, u.username, u.district_id, s.roi_hundredths, s.win_ppm, s.closed
      from ranked s join users u on u.id = s.user_id
     where s.rank = 1
     order by s.user_id`.execute(db)
  return rows.map((row) => ({
    userId: userId(row.user_id),
    username: row.username,
    districtId: districtId(row.district_id),
    roiHundredths: row.roi_hundredths,
    winPpm: row.win_ppm,
    closed: row.closed,
  }))
}

/** Takes the name of a user out of the weeks that they were a candidate of. */
export async function eraseCandidate(tx: Transaction<Database>, user: UserId): Promise<void> {
  await sql`
    update spinner_weeks
       set candidates = (select jsonb_agg(case when c ->> 'userId' = ${user}::text
                                               then c || '{"username": "deleted"}' else c end order by n)
                           from jsonb_array_elements(candidates) with ordinality e (c, n))
     where candidates @> jsonb_build_array(jsonb_build_object('userId', ${user}::text))`.execute(tx)
}
