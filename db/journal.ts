/** Reads the journal of a match: everything it has heard, in its own order. */
import type { Kysely } from 'kysely'
import type { FixtureId } from '../actors/kernel/ids.ts'
import { type JournalLine, JournalReader } from './journal-codec.ts'
import type { Database } from './postgres/schema.ts'

/** The entries of one commit. */
export interface JournalCommit {
  /** From 1, without gaps. */
  readonly n: number
  /** The owner that made it. */
  readonly epoch: number
  /** The last row of the outbox that the match had left by then. */
  readonly afterSeq: number
  readonly lines: readonly JournalLine[]
}

/** Rows per query. */
const PAGE = 200

export class Journal {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** Nothing for a match without a journal. Throws when a row is missing or cannot be read. */
  async *read(matchId: FixtureId): AsyncGenerator<JournalCommit> {
    const reader = new JournalReader()
    for (let read = 0; ;) {
      const rows = await this.#db
        .selectFrom('journal')
        .select(['n', 'epoch', 'after_seq', 'fresh', 'entries'])
        .where('match_id', '=', matchId)
        .where('n', '>', read)
        .orderBy('n')
        .limit(PAGE)
        .execute()
      for (const { n, epoch, after_seq: afterSeq, ...row } of rows) {
        if (n !== ++read) throw new Error(`match ${matchId}: row ${read} of the journal is missing`)
        yield { n, epoch, afterSeq, lines: reader.read(row) }
      }
      if (rows.length < PAGE) return
    }
  }
}
