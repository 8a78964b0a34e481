/** The recordings of ended matches, made of their journals. */
import { type Kysely, sql } from 'kysely'
import { decimal } from '../actors/kernel/micros.ts'
import { type FixtureId, fixtureId } from '../actors/kernel/ids.ts'
import type { MatchInfo } from '../actors/match/messages.ts'
import { readMatchInfo } from '../actors/match/read-match-info.ts'
import { Journal } from './journal.ts'
import type { Database } from './postgres/schema.ts'

export interface RecordedMatch {
  readonly info: MatchInfo
  /** Commits that heard anything: about one for each update. */
  readonly commits: number
  /** Of its journal. */
  readonly bytes: number
}

export class Recordings {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** Settled matches whose journal is kept, the highest number first; only those below `before` unless it is null. */
  async list(limit: number, before: FixtureId | null): Promise<readonly RecordedMatch[]> {
    const { rows } = await sql<{ id: number; info: unknown; commits: number; bytes: number }>`
      select m.id, m.info, j.commits::integer, j.bytes::integer
        from matches m
       cross join lateral (select count(*) as commits, coalesce(sum(octet_length(entries)), 0) as bytes
                             from journal where match_id = m.id) j
       where m.settled_at is not null and (${before}::bigint is null or m.id < ${before}::bigint)
         and exists (select from journal where match_id = m.id)
       order by m.id desc limit ${limit}::integer`.execute(this.#db)
    return rows.map(({ id, info, commits, bytes }) => ({
      info: readMatchInfo(info, `match ${id}: info`),
      commits,
      bytes,
    }))
  }

  /** The match of a recording; null unless it is settled and has a journal. */
  async find(matchId: FixtureId): Promise<MatchInfo | null> {
    const [found] = await this.list(1, fixtureId(matchId + 1))
    return found?.info.matchId === matchId ? found.info : null
  }

  /** The lines of a recording: a head with the prices at which players started, then everything the match heard. */
  async *lines(info: MatchInfo): AsyncGenerator<string> {
    const { matchId, home, away, startsAt } = info
    const title = `${home.name} ${home.goals ?? '–'}:${away.goals ?? '–'} ${away.name}`
    const anchors = await this.#startsOf(matchId)
    yield `${JSON.stringify({ recording: { name: `match-${matchId}`, title, matchId, startsAt, anchors } })}\n`
    for await (const { n, epoch, lines } of new Journal(this.#db).read(matchId)) {
      for (const line of lines) yield `${JSON.stringify({ n, epoch, ...line })}\n`
    }
  }

  /** By player id, in units. */
  async #startsOf(matchId: FixtureId): Promise<Readonly<Record<string, number>>> {
    const listed = new Map<string, number>()
    for await (const { lines } of new Journal(this.#db).read(matchId)) {
      for (const { at, histories } of lines) {
        for (const id of Object.keys(histories ?? {})) if (!listed.has(id)) listed.set(id, at)
      }
    }
    const found = await this.#starts([...listed.keys()], [...listed.values()])
    return Object.fromEntries(found.map((row) => [row.player, decimal(row.start)]))
  }

  async #starts(ids: readonly string[], at: readonly number[]) {
    const { rows } = await sql<{ player: number; start: number }>`
      select i.player_id as player, t.base_micros as start
        from (select unnest(${literal(ids)}::uuid[]) as id, unnest(${literal(at)}::bigint[]) as at) l
        join instruments i on i.id = l.id
        join ticks t on t.instrument_id = l.id and t.cause = 'listing'
         and t.at = to_timestamp(l.at::double precision / 1000)`.execute(this.#db)
    return rows
  }
}

const literal = (values: readonly (string | number)[]): string => `{${values.join(',')}}`
