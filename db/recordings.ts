/** The recordings of ended matches, made of their journals. */
import { type Kysely, sql } from 'kysely'
import { decimal, price } from '../actors/kernel/micros.ts'
import { fieldsOf, integer } from '../actors/kernel/read.ts'
import { type FixtureId, fixtureId } from '../actors/kernel/ids.ts'
import type { MatchInfo } from '../actors/match/messages.ts'
import { infoFrom, type MatchRow } from './match-record.ts'
import { Journal } from './journal.ts'
import { unpacked } from './tape-lines.ts'
import type { Database } from './postgres/schema.ts'

/** The price of a player over a match, in units, at even distances of time. */
export interface PricePath {
  readonly name: string
  readonly prices: readonly number[]
}

export interface RecordedMatch {
  readonly info: MatchInfo
  /** Commits that heard anything: about one for each update. */
  readonly commits: number
  /** Of its journal. */
  readonly bytes: number
}

/** Of a small chart. */
const [PATHS, POINTS] = [3, 48]

export class Recordings {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** Settled matches whose journal is kept, the highest number first; only those below `before` unless it is null. */
  async list(limit: number, before: FixtureId | null): Promise<readonly RecordedMatch[]> {
    const { rows } = await sql<MatchRow & { commits: number; bytes: number }>`
      select m.id, m.info, m.starts_at, m.phase, m.replay, m.settled_at, m.quarantine, j.commits::integer, j.bytes::integer
        from matches m
       cross join lateral (select count(*) as commits, coalesce(sum(octet_length(entries)), 0) as bytes
                             from journal where match_id = m.id) j
       where m.settled_at is not null and (${before}::bigint is null or m.id < ${before}::bigint)
         and exists (select from journal where match_id = m.id)
       order by m.id desc limit ${limit}::integer`.execute(this.#db)
    return rows.map(({ commits, bytes, ...match }) => ({ info: infoFrom(match), commits, bytes }))
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

  /** The bases of the players that moved the most, at even distances of time. */
  async chart({ matchId, startsAt, settledAt }: MatchInfo): Promise<readonly PricePath[]> {
    const listed = await this.#listedIn(matchId)
    const { rows } = await sql<{ id: string; name: string; bucket: number; base: number }>`
      with move as (
        select t.instrument_id as id, t.at, t.base_micros as base
          from (select unnest(${literal([...listed.keys()])}::uuid[]) as id,
                       unnest(${literal([...listed.values()])}::bigint[]) as at) l
          join ticks t on t.instrument_id = l.id
           and t.at >= to_timestamp(l.at::double precision / 1000)
           and t.at <= ${new Date(settledAt ?? startsAt).toISOString()}::timestamptz),
      span as (select min(at) as first, greatest(max(at) - min(at), interval '1 second') as length from move),
      most as (select id from move group by id order by max(base)::double precision / min(base) desc
                limit ${PATHS}::integer),
      placed as (
        select m.id, m.at, m.base,
               floor(extract(epoch from m.at - span.first) / extract(epoch from span.length) * ${POINTS})::integer as bucket
          from move m join most using (id) cross join span)
      select distinct on (p.id, p.bucket) p.id, i.name, p.bucket, p.base
        from placed p join instruments i on i.id = p.id
       order by p.id, p.bucket, p.at desc`.execute(this.#db)
    return [...Map.groupBy(rows, ({ id }) => id).values()].map((moves) => {
      const prices: number[] = []
      for (const { bucket, base } of moves) {
        // It stood still in between.
        while (prices.length < bucket) prices.push(prices.at(-1) ?? decimal(base))
        prices.push(decimal(base))
      }
      while (prices.length <= POINTS) prices.push(prices.at(-1) ?? 0)
      return { name: moves[0]?.name ?? '', prices }
    })
  }

  /** By player id, in units: what the tape says of the commits that listed players. */
  async #startsOf(matchId: FixtureId): Promise<Readonly<Record<string, number>>> {
    const listed = await this.#listedIn(matchId)
    const { rows } = await sql<{ lines: Uint8Array }>`
      select lines from tape
       where match_id = ${matchId}::bigint
         and at in (select to_timestamp(unnest(${literal([...new Set(listed.values())])}::bigint[])::double precision / 1000))
       order by first_n`.execute(this.#db)
    const starts = rows.flatMap(({ lines }) => unpacked(lines)).flatMap(startIn)
    return Object.fromEntries(starts)
  }

  /** When each player was listed, by instrument. */
  async #listedIn(matchId: FixtureId): Promise<ReadonlyMap<string, number>> {
    const listed = new Map<string, number>()
    for await (const { lines } of new Journal(this.#db).read(matchId)) {
      for (const { at, histories } of lines) {
        for (const id of Object.keys(histories ?? {})) if (!listed.has(id)) listed.set(id, at)
      }
    }
    return listed
  }
}

/** A player who is listed by a line of a tape. */
function startIn(line: string): readonly (readonly [player: string, start: number])[] {
  if (!line.startsWith('{"kind":"listed"')) return []
  const field = fieldsOf(JSON.parse(line), 'listed')
  return [[String(field('playerId', integer)), decimal(price(field('start', integer)))]]
}

const literal = (values: readonly (string | number)[]): string => `{${values.join(',')}}`
