/** Reads the public tapes of matches, and keeps their checkpoints and the keys that signed them. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { type FixtureId, fixtureId, type PositionId } from '../actors/kernel/ids.ts'
import { type Instant, instant } from '../actors/kernel/world.ts'
import type { Database } from './postgres/schema.ts'
import { BEGINNING, Names, type Place, TapePublisher, unpacked } from './tape-lines.ts'
import type { End } from './tape-writer.ts'

/** A tape whose end is to be signed. */
export interface Unsigned {
  readonly matchId: FixtureId
  /** Whether its match has settled. */
  readonly hasEnded: boolean
  /** The place that was signed last. */
  readonly signed: Place
}

export interface Checkpoint extends Place {
  readonly matchId: FixtureId
  readonly at: Instant
  readonly kid: string
  /** In base64. */
  readonly signature: string
}

export interface TapeKey {
  readonly kid: string
  /** The 32 bytes of an Ed25519 key, in base64url. */
  readonly publicKey: string
  readonly since: Instant
}

/** What proves to others which position on a tape is a user's. */
export interface PositionProof {
  readonly matchId: FixtureId
  readonly positionId: string
  readonly userId: string
  /** The line that opens the position. */
  readonly n: number
  readonly salt: string
}

/** Rows per query. */
const PAGE = 200
/** Checkpoints per request: a match of three hours has 180. */
const CHECKPOINTS_MAX = 2_000
/** Tapes that are signed in one run. */
const UNSIGNED_MAX = 1_000
/** Lines of one tape that are read for a signature: a second of work. A longer tape gets several. */
const SIGNED_TOGETHER_MAX = 100_000
/** About 5 ms of work. */
const LINES_A_TURN = 500
const LINES_MAX = 2 ** 31 - 1

/** Where the tape of a match ends, for its next owner; null without one. */
export async function endOfTape(db: Kysely<Database>, matchId: FixtureId): Promise<End | null> {
  const { rows } = await sql<{ n: number; secret: Uint8Array }>`
    select t.last_n as n, s.secret
      from tape t join tape s on s.match_id = t.match_id and s.first_n = 1
     where t.match_id = ${matchId}::bigint order by t.first_n desc limit 1`.execute(db)
  const [row] = rows
  return row === undefined ? null : { n: row.n, secret: Buffer.from(row.secret) }
}

export class PublicTape {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /**
   * The lines of a tape up to the one with the number `to`, or all, each with its end of line. None for a match
   * without a tape, or whose tape is no longer kept. Throws when a row is missing, or when lines are not those that
   * were signed, as soon as it comes to the signature.
   */
  async *lines(matchId: FixtureId, to = LINES_MAX): AsyncGenerator<string> {
    const signed = new Map((await this.checkpoints(matchId)).map(({ n, hash }) => [n, hash]))
    for await (const { line, place } of this.#published(matchId, BEGINNING)) {
      if (place.n > to) return
      const hash = signed.get(place.n)
      if (hash !== undefined && hash !== place.hash) {
        throw new Error(`line ${place.n} of the tape of match ${matchId} is not the one that was signed`)
      }
      yield `${line}\n`
    }
  }

  /** The lines after a place, in whole rows, with their places. Other work has its turn between them. */
  async *#published(
    matchId: FixtureId,
    after: Place,
  ): AsyncGenerator<{ readonly line: string; readonly place: Place }> {
    const secret = await this.#secretOf(matchId)
    if (secret === null) return
    const publisher = new TapePublisher(secret, after)
    for (;;) {
      const rows = await this.#db
        .selectFrom('tape')
        .select(['first_n', 'last_n', 'lines'])
        .where('match_id', '=', matchId)
        .where('first_n', '>', publisher.place.n)
        .orderBy('first_n')
        .limit(PAGE)
        .execute()
      for (const row of rows) {
        const next = publisher.place.n + 1
        const stored = unpacked(row.lines)
        if (row.first_n !== next || row.last_n !== next + stored.length - 1) {
          throw new Error(`the tape of match ${matchId} lacks line ${next}`)
        }
        for (const text of stored) {
          yield { line: publisher.publish(text), place: publisher.place }
          if (publisher.place.n % LINES_A_TURN === 0) await nextTurn()
        }
      }
      if (rows.length < PAGE) return
    }
  }

  /** Null without a tape. */
  async #secretOf(matchId: FixtureId): Promise<Uint8Array | null> {
    const row = await this.#db
      .selectFrom('tape')
      .select('secret')
      .where('match_id', '=', matchId)
      .where('first_n', '=', 1)
      .executeTakeFirst()
    return row?.secret ?? null
  }

  /**
   * The tapes whose ends are to be signed: of matches that run, where the last checkpoint is from before `last`, and of
   * those that have settled since `ended`.
   */
  async unsigned(last: Instant, ended: Instant): Promise<readonly Unsigned[]> {
    const [signedBefore, settledSince] = [last, ended].map((at) => new Date(at).toISOString())
    const { rows } = await sql<{ match_id: number; has_ended: boolean; n: number | null; hash: Uint8Array | null }>`
      select m.id as match_id, m.settled_at is not null as has_ended, c.n, c.hash
        from matches m
       cross join lateral (select last_n from tape where match_id = m.id order by first_n desc limit 1) t
        left join lateral (select n, hash, at from tape_checkpoints where match_id = m.id order by n desc limit 1) c
          on true
       where (m.settled_at is null and (c.at is null or c.at < ${signedBefore}::timestamptz)
              or m.settled_at > ${settledSince}::timestamptz)
         and coalesce(c.n, 0) < t.last_n
       limit ${UNSIGNED_MAX}::integer`.execute(this.#db)
    return rows.map(({ match_id, has_ended: hasEnded, n, hash }) => ({
      matchId: fixtureId(match_id),
      hasEnded,
      signed: n === null || hash === null ? BEGINNING : { n, hash: hexOf(hash) },
    }))
  }

  /**
   * Where an unsigned tape ends. One that has grown by very much is signed before its end, and its rest the next time.
   */
  async endOf({ matchId, signed }: Unsigned): Promise<Place> {
    let end = signed
    for await (const { place } of this.#published(matchId, signed)) {
      end = place
      if (end.n - signed.n >= SIGNED_TOGETHER_MAX) break
    }
    return end
  }

  /** Keeps a checkpoint. Another of the same line may have been first, and then it stands. */
  async sign({ matchId, n, hash, at, kid, signature }: Checkpoint): Promise<void> {
    const row = { match_id: matchId, n, hash: Buffer.from(hash, 'hex'), at: new Date(at), kid }
    await this.#db
      .insertInto('tape_checkpoints')
      .values({ ...row, signature: Buffer.from(signature, 'base64') })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }

  /** In the order of their lines. */
  async checkpoints(matchId: FixtureId): Promise<readonly Checkpoint[]> {
    const rows = await this.#db
      .selectFrom('tape_checkpoints')
      .selectAll()
      .where('match_id', '=', matchId)
      .orderBy('n', 'desc')
      .limit(CHECKPOINTS_MAX)
      .execute()
    return rows.toReversed().map((row) => ({
      matchId,
      n: row.n,
      hash: hexOf(row.hash),
      at: instant(row.at.getTime()),
      kid: row.kid,
      signature: Buffer.from(row.signature).toString('base64'),
    }))
  }

  /**
   * The newest checkpoint until an instant, of a match that had settled by then the newest of all; null without any.
   * `isEnd`: the tape of the settled match ends with it, for ever. One that was void may be played again.
   */
  async last(matchId: FixtureId, until: Instant): Promise<(Checkpoint & { readonly isEnd: boolean }) | null> {
    const { rows } = await sql<CheckpointRow>`
      select c.*, m.settled_at <= ${new Date(until)}::timestamptz
                  and (m.replay or m.info ->> 'settling' is distinct from 'void')
                  and not exists (select from tape t where t.match_id = c.match_id and t.first_n > c.n) as is_end
        from tape_checkpoints c join matches m on m.id = c.match_id
       where c.match_id = ${matchId}::bigint
         and (m.settled_at <= ${new Date(until)}::timestamptz or c.at <= ${new Date(until)}::timestamptz)
       order by c.n desc limit 1`.execute(this.#db)
    const [row] = rows
    if (row === undefined) return null
    const { n, at, kid } = row
    const signature = Buffer.from(row.signature).toString('base64')
    return { matchId, n, hash: hexOf(row.hash), at: instant(at.getTime()), kid, signature, isEnd: row.is_end }
  }

  /** Publishes a key from now on, unless it is known. */
  async addKey({ kid, publicKey, since }: TapeKey): Promise<void> {
    await this.#db
      .insertInto('tape_keys')
      .values({ kid, public_key: publicKey, since: new Date(since) })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }

  /** All keys that have ever signed, the newest first. */
  async keys(): Promise<readonly TapeKey[]> {
    const rows = await this.#db.selectFrom('tape_keys').selectAll().orderBy('since', 'desc').limit(1_000).execute()
    return rows.map(({ kid, public_key: publicKey, since }) => ({ kid, publicKey, since: instant(since.getTime()) }))
  }

  /** For the owner of a position; of a part, that of the whole. Null for one on no tape, or not a user's own. */
  async proofOf(userId: string, id: PositionId): Promise<PositionProof | null> {
    const { rows } = await sql<{
      id: PositionId
      match_id: number
      secret: Uint8Array
      first_n: number
      lines: Uint8Array
    }>`
      select coalesce(p.part_of, p.id) as id, t.match_id, t.first_n, t.lines, s.secret
        from all_positions p
        join tape t on t.match_id = p.match_id and t.at = p.opened_at
        join tape s on s.match_id = p.match_id and s.first_n = 1
       where p.id = ${id}::uuid and p.user_id = ${userId}::uuid`.execute(this.#db)
    for (const row of rows) {
      const index = unpacked(row.lines).findIndex((body) => body.startsWith(`{"of":"${row.id}","user":`))
      if (index < 0) continue
      const { salt } = new Names(row.secret).of(row.id)
      return { matchId: fixtureId(row.match_id), positionId: row.id, userId, n: row.first_n + index, salt }
    }
    return null
  }
}

interface CheckpointRow {
  readonly n: number
  readonly hash: Uint8Array
  readonly at: Date
  readonly kid: string
  readonly signature: Uint8Array
  readonly is_end: boolean
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
