/** The activity feed: headlines of all users or of one district. */
import type { Kysely } from 'kysely'
import { type DistrictId, districtId, type UserId, userId } from '../actors/kernel/ids.ts'
import { oneOf } from '../actors/kernel/read.ts'
import { type Instant, instant } from '../actors/kernel/world.ts'
import { type Headline, HEADLINE_TYPES } from '../actors/community/notices.ts'
import { readFacts } from './facts.ts'
import type { Database } from './postgres/schema.ts'

/** A stored headline. */
export interface Activity extends Omit<Headline, 'source'> {
  readonly id: number
  readonly userId: UserId
  readonly username: string
  readonly districtId: DistrictId
  readonly at: Instant
}

const readType = oneOf(HEADLINE_TYPES)

export class ActivityFeed {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** Newest first, of all users or of one district; `before`: older than the headline with this id. */
  async list(limit: number, district: DistrictId | null, before?: number): Promise<readonly Activity[]> {
    const rows = await this.#db
      .selectFrom('activity')
      .innerJoin('users', 'users.id', 'activity.user_id')
      .selectAll('activity')
      .select('username')
      .where('off_boards', '=', false)
      .$if(district !== null, (query) => query.where('activity.district_id', '=', district ?? 0))
      .$if(before !== undefined, (query) => query.where('activity.id', '<', before ?? 0))
      .orderBy('activity.id', 'desc')
      .limit(limit)
      .execute()
    return rows.map((row) => ({
      id: row.id,
      type: readType(row.type, `headline ${row.id}: type`),
      userId: userId(row.user_id),
      username: row.username,
      districtId: districtId(row.district_id),
      text: row.text,
      data: readFacts(row.data, `headline ${row.id}: data`),
      at: instant(row.at.getTime()),
    }))
  }
}
