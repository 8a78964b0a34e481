/** Which recordings anyone may download: without leave of the provider, none that may have its payloads. */
import type { Kysely } from 'kysely'
import type { FixtureId } from '../../../actors/kernel/ids.ts'
import type { Database } from '../../../db/postgres/schema.ts'

export interface OpenRecordingsOptions {
  readonly db: Kysely<Database>
  readonly bundled: readonly { readonly name: string }[]
  /** Whether all are open. */
  readonly areAllOpen: () => boolean
}

/** Of replays, those of bundled recordings and of tournaments are always open. */
export const openRecordings =
  ({ db, bundled, areAllOpen }: OpenRecordingsOptions) =>
  async (matchId: FixtureId): Promise<boolean> => {
    if (areAllOpen()) return true
    const run = await db
      .selectFrom('replays as r')
      .leftJoin('tournaments as t', 't.replay_id', 'r.id')
      .select(['r.recording', 't.replay_id as tournament'])
      .where('r.match_id', '=', matchId)
      .executeTakeFirst()
    return run !== undefined && (run.tournament !== null || bundled.some(({ name }) => name === run.recording))
  }
