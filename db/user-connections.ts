/** Reads what connects one user with others, for operators. */
import { type Kysely, sql } from 'kysely'
import { type UserId, userId } from '../actors/kernel/ids.ts'
import { type Instant, instant } from '../actors/kernel/world.ts'
import { digestIn } from './audit-log.ts'
import type { Database } from './postgres/schema.ts'

export type ConnectionKind = 'same_network' | 'invited_by' | 'invited'

export interface UserConnection {
  readonly kind: ConnectionKind
  readonly userId: UserId
  readonly username: string
}

export interface UserAlert {
  /** Of the entry in the audit log. */
  readonly id: number
  readonly at: Instant
  readonly finding: string
}

/** Something that operators did about a user, or noted. */
export interface UserDeed {
  /** Of the entry in the audit log. */
  readonly id: number
  readonly at: Instant
  readonly action: string
  /** Who did it; null for the server, and for users who do not exist any more. */
  readonly by: string | null
  /** The reason or the note, or null. */
  readonly text: string | null
}

/** Of each kind. */
const LISTED_MAX = 50
/** The latest alerts among which those of the user are looked for. */
const ALERTS_MAX = 1_000

export class UserConnections {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** Users with a stored session in the same network, the inviter and the invited: at most 50 of each kind. */
  async of(user: UserId): Promise<readonly UserConnection[]> {
    const { rows } = await sql<{ kind: ConnectionKind; id: string; username: string }>`
      with found as (
        (select distinct 'same_network' as kind, s.user_id as id from sessions s
          where s.user_id <> ${user}::uuid and s.address_prefix <> ''
            and s.address_prefix in (select address_prefix from sessions where user_id = ${user}::uuid)
          order by s.user_id desc limit ${LISTED_MAX}::integer)
        union all
        (select 'invited_by', referrer_id from referrals where referee_id = ${user}::uuid)
        union all
        (select 'invited', referee_id from referrals
          where referrer_id = ${user}::uuid and referee_id is not null
          order by referee_id desc limit ${LISTED_MAX}::integer)
      )
      select f.kind, u.id, u.username from found f join users u on u.id = f.id
       order by f.kind, u.id desc`.execute(this.#db)
    return rows.map(({ kind, id, username }) => ({ kind, userId: userId(id), username }))
  }

  /** What was last done about the user, newest first. */
  async deeds(user: UserId): Promise<readonly UserDeed[]> {
    const { rows } = await sql<{ id: number; at: Date; action: string; by: string | null; text: string | null }>`
      select a.id, a.at, a.action, u.username as by, w.words as text
        from audit_log a left join users u on u.id = a.actor_id left join audit_words w on w.digest = ${digestIn('a')}
       where a.subject = ${user}::text and a.outcome = 'ok' order by a.id desc limit ${LISTED_MAX}::integer`.execute(
      this.#db,
    )
    return rows.map(({ at, ...deed }) => ({ ...deed, at: instant(at.getTime()) }))
  }

  /** The latest alerts of the integrity desk that name the user, newest first. */
  async alerts(user: UserId): Promise<readonly UserAlert[]> {
    const { rows } = await sql<{ id: number; at: Date; subject: string }>`
      select id, at, subject from (
        select * from audit_log where action = 'integrity.alert' order by id desc limit ${ALERTS_MAX}::integer) a
       where after -> 'users' @> to_jsonb(${user}::text)
       order by id desc limit ${LISTED_MAX}::integer`.execute(this.#db)
    return rows.map(({ id, at, subject }) => ({ id, at: instant(at.getTime()), finding: subject }))
  }
}
