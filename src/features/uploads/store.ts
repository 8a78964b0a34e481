/** The recordings that operators have uploaded. */
import { type Kysely, sql } from 'kysely'
import type { UserId } from '../../../actors/kernel/ids.ts'
import { fieldsOf, integer, listOf, nullable, number, type Reader, text } from '../../../actors/kernel/read.ts'
import { type Instant, instant, type World } from '../../../actors/kernel/world.ts'
import type { AuditLog } from '../../../db/audit-log.ts'
import type { PricePath } from '../../../db/recordings.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import { withUploads } from './tables.ts'

/** What a recording is about. */
export interface RecordingSummary {
  readonly title: string
  /** "Home vs Away". */
  readonly fixtureName: string
  readonly home: { readonly name: string; readonly goals: number | null }
  readonly away: { readonly name: string; readonly goals: number | null }
  readonly events: number
  readonly minutes: number
  readonly players: number
  readonly updates: number
  /** Of the players whose prices moved the most. */
  readonly chart: readonly PricePath[]
}

export interface Upload extends RecordingSummary {
  readonly name: string
  readonly id: string
  /** Compressed. */
  readonly bytes: number
  readonly at: Instant
}

/** How many may be kept. */
export const UPLOADS_MAX = 100

export type UploadOutcome =
  | { readonly kind: 'kept'; readonly upload: Upload }
  | { readonly kind: 'exists' }
  | { readonly kind: 'full'; readonly max: number }

export type RemovalOutcome = 'removed' | 'unknown' | 'playing'

export class Uploads {
  readonly #db: Kysely<Database>
  readonly #world: World
  readonly #audit: Pick<AuditLog, 'record'>

  constructor(db: Kysely<Database>, world: World, audit: Pick<AuditLog, 'record'>) {
    this.#db = db
    this.#world = world
    this.#audit = audit
  }

  /** By name. */
  async list(): Promise<readonly Upload[]> {
    const rows = await withUploads(this.#db)
      .selectFrom('uploads')
      .select(['name', 'id', 'summary', 'at', sql<number>`octet_length(data)`.as('bytes')])
      .orderBy('name')
      .limit(UPLOADS_MAX)
      .execute()
    return rows.map(({ name, id, summary, at, bytes }) => ({
      ...readSummary(summary, `upload ${name}`),
      name,
      id,
      bytes,
      at: instant(at.getTime()),
    }))
  }

  /** Lines of JSON, compressed with brotli; null without such an upload. `id` tells it from others of this name. */
  async find(name: string): Promise<{ readonly id: string; readonly data: Uint8Array } | null> {
    const row = await withUploads(this.#db)
      .selectFrom('uploads')
      .select(['id', 'data'])
      .where('name', '=', name)
      .executeTakeFirst()
    return row ?? null
  }

  /** Keeps a recording. A name is taken until its recording is removed. */
  async add(name: string, summary: RecordingSummary, data: Uint8Array, by: UserId): Promise<UploadOutcome> {
    const at = this.#world.now()
    const id = this.#world.newId()
    return this.#db.transaction().execute(async (tx) => {
      await sql`lock table uploads in share row exclusive mode`.execute(tx) // one at a time
      const known = await withUploads(tx).selectFrom('uploads').select('name').execute()
      if (known.some((row) => row.name === name)) return { kind: 'exists' }
      if (known.length >= UPLOADS_MAX) return { kind: 'full', max: UPLOADS_MAX }
      const row = { name, id, summary: JSON.stringify(summary), data: Buffer.from(data), at: new Date(at), by_id: by }
      await withUploads(tx).insertInto('uploads').values(row).execute()
      const after = { title: summary.title, updates: summary.updates, bytes: data.length }
      await this.#audit.record({ actor: by, action: 'recording.upload', subject: name, before: null, after }, tx)
      return { kind: 'kept', upload: { ...summary, name, id, bytes: data.length, at } }
    })
  }

  /** Removes a recording, unless a replay of it is under way. */
  async remove(name: string, by: UserId, reason?: string): Promise<RemovalOutcome> {
    return this.#db.transaction().execute(async (tx) => {
      await sql`lock table replays in share row exclusive mode`.execute(tx) // no replay begins meanwhile
      const playing = await tx
        .selectFrom('replays')
        .select('id')
        .where('recording', '=', name)
        .where('state', '=', 'running')
        .executeTakeFirst()
      if (playing !== undefined) return 'playing'
      const removed = await withUploads(tx)
        .deleteFrom('uploads')
        .where('name', '=', name)
        .returning('summary')
        .executeTakeFirst()
      if (removed === undefined) return 'unknown'
      const { title } = readSummary(removed.summary, `upload ${name}`)
      await this.#audit.record(
        { actor: by, action: 'recording.delete', subject: name, before: { title }, after: null, reason },
        tx,
      )
      return 'removed'
    })
  }
}

const team: Reader<RecordingSummary['home']> = (value, path) => {
  const field = fieldsOf(value, path)
  return { name: field('name', text), goals: field('goals', nullable(integer)) }
}
const pricePath: Reader<PricePath> = (value, path) => {
  const field = fieldsOf(value, path)
  return { name: field('name', text), prices: field('prices', listOf(number)) }
}

function readSummary(value: unknown, path: string): RecordingSummary {
  const field = fieldsOf(value, path)
  return {
    title: field('title', text),
    fixtureName: field('fixtureName', text),
    home: field('home', team),
    away: field('away', team),
    events: field('events', integer),
    minutes: field('minutes', integer),
    players: field('players', integer),
    updates: field('updates', integer),
    chart: field('chart', listOf(pricePath)),
  }
}
