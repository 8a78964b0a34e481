/** Rows of users, their sessions and their referrals. */
import type { Generated } from 'kysely'
import type { Timestamp } from './columns.ts'

export interface UserTables {
  districts: DistrictsTable
  users: UsersTable
  sessions: SessionsTable
  referrals: ReferralsTable
}

export interface DistrictsTable {
  id: number
  name: string
}

export interface UsersTable {
  id: string
  /** The identity provider's subject; null for synthetic users. */
  google_sub: string | null
  email: string
  name: string
  picture: string | null
  /** Lower case, unique. */
  username: string
  first_name: string
  last_name: string | null
  district_id: number
  role: Generated<string>
  xp: Generated<number>
  referral_code: string
  /** Created by the dev routes or a replay, not by a person. */
  synthetic: Generated<boolean>
  created_at: Timestamp
}

/** A sign-in, to which its access, refresh and WebSocket tokens belong. */
export interface SessionsTable {
  id: string
  user_id: string
  /** Of the next refresh token to be used. Counts rotations from 1. */
  generation: Generated<number>
  /** When that token was issued. */
  rotated_at: Timestamp
  expires_at: Timestamp
  /** Null while the session lasts. */
  ended_at: Timestamp | null
}

/** A named invite, or an anonymous referral by the referrer's own code. */
export interface ReferralsTable {
  id: string
  referrer_id: string
  /** Null when anonymous, like `code`. */
  name: string | null
  code: string | null
  /** The user who registered; null while an invite waits. */
  referee_id: string | null
  created_at: Timestamp
  registered_at: Timestamp | null
  credited_at: Timestamp | null
  reward_micros: Generated<number>
}
