/** Writes notifications and headlines, each source once, and none of users who have been erased. */
import { sql, type Transaction } from 'kysely'
import type { DistrictId } from '../actors/kernel/ids.ts'
import type { Instant } from '../actors/kernel/world.ts'
import type { Headline, Notice } from '../actors/community/notices.ts'
import { instants, integers, jsonLines, texts, uuids } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'
import { notePushes } from './push-outbox.ts'

/** A stored notification. */
export interface Notification extends Omit<Notice, 'source' | 'at'> {
  readonly id: number
  readonly createdAt: Instant
  readonly read: boolean
}

/** Writes the notices whose sources are new, and returns them as stored. */
export async function insertNotices(tx: Transaction<Database>, notices: readonly Notice[]): Promise<Notification[]> {
  if (notices.length === 0) return []
  const { rows } = await sql<{ id: number; source: string }>`
    insert into notifications (user_id, type, title, body, data, source, created_at)
      select n.user_id, n.type, n.title, n.body, n.data::jsonb, n.source, n.at
        from unnest(${uuids(notices.map((n) => n.userId))}::uuid[], ${texts(notices.map((n) => n.type))}::text[],
                    ${texts(notices.map((n) => n.title))}::text[], ${texts(notices.map((n) => n.body))}::text[],
                    string_to_array(${jsonLines(notices.map((n) => n.data))}::text, E'\\n'),
                    ${texts(notices.map((n) => n.source))}::text[],
                    ${instants(notices.map((n) => n.at))}::timestamptz[])
             n (user_id, type, title, body, data, source, at)
       where ${isThere('n')}
      on conflict (source) do nothing returning id, source`.execute(tx)
  const ids = new Map(rows.map((row) => [row.source, row.id]))
  const stored = notices.flatMap(({ source, at, ...notice }) => {
    const id = ids.get(source)
    ids.delete(source)
    return id === undefined ? [] : [{ ...notice, id, createdAt: at, read: false }]
  })
  await notePushes(tx, stored)
  return stored
}

/** Writes the headlines whose sources are new. */
export async function insertHeadlines(
  tx: Transaction<Database>,
  headlines: readonly (Headline & { readonly districtId: DistrictId })[],
): Promise<void> {
  if (headlines.length === 0) return
  await sql`
    insert into activity (user_id, district_id, type, text, data, source, at)
      select h.user_id, h.district_id, h.type, h.text, h.data::jsonb, h.source, h.at
        from unnest(${uuids(headlines.map((h) => h.userId))}::uuid[],
                    ${integers(headlines.map((h) => h.districtId))}::integer[],
                    ${texts(headlines.map((h) => h.type))}::text[], ${texts(headlines.map((h) => h.text))}::text[],
                    string_to_array(${jsonLines(headlines.map((h) => h.data))}::text, E'\\n'),
                    ${texts(headlines.map((h) => h.source))}::text[],
                    ${instants(headlines.map((h) => h.at))}::timestamptz[])
             h (user_id, district_id, type, text, data, source, at)
       where ${isThere('h')}
      on conflict (source) do nothing`.execute(tx)
}

const isThere = (row: string) =>
  sql.raw(`not exists (select from users u where u.id = ${row}.user_id and u.erased_at is not null)`)
