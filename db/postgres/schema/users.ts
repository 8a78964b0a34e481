/** Rows of users, their sessions and their referrals. */
import type { ColumnType, Generated } from 'kysely'
import type { Timestamp } from './columns.ts'

export interface UserTables {
  districts: DistrictsTable
  users: UsersTable
  single_use: SingleUseTable
  email_codes: EmailCodesTable
  sessions: SessionsTable
  personal_keys: PersonalKeysTable
  referrals: ReferralsTable
  departed: DepartedTable
  registration_networks: RegistrationNetworksTable
}

/** A frozen user reads and closes, and does nothing else. */
export type UserStatus = 'active' | 'frozen'

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
  /** An admin only because the address is among the configured ones. */
  admin_by_email: Generated<boolean>
  /** When the first order came by a key; null for a person. */
  bot_since: Timestamp | null
  xp: Generated<number>
  referral_code: string
  /** Created by the dev routes or a replay, not by a person. */
  synthetic: Generated<boolean>
  status: Generated<UserStatus>
  /** On no board and in no activity, for whatever reason. Computed. */
  off_boards: ColumnType<boolean, never, never>
  hidden_from_boards: Generated<boolean>
  /** The user's own limits (see db/own-limits.ts); null for none. */
  limits: ColumnType<unknown, string | null | undefined, string | null>
  /** When the account is erased unless its user signs in before. */
  deletion_due: Timestamp | null
  /** When it was. */
  erased_at: Timestamp | null
  created_at: Timestamp
}

/** Keyed digests of the identities and usernames of erased users. */
export interface DepartedTable {
  digest: string
  left_at: Timestamp
  /** What a returning user must not shed; null for a username. */
  carried: ColumnType<unknown, string | null, string | null>
}

/** Registrations from a network on a UTC day. */
export interface RegistrationNetworksTable {
  network: string
  day: Timestamp
  registered: number
}

/** Something that has been used and cannot be used again. */
export interface SingleUseTable {
  digest: string
  expires_at: Timestamp
}

/** The code of an account that is registering. */
export interface EmailCodesTable {
  /** At the identity provider. */
  subject: string
  code_id: string
  digest: string
  guesses: number
  /** Once the code was used: when. */
  expires_at: Timestamp
  verified_email: string | null
  verified_until: Timestamp | null
}

/** A sign-in, to which its access, refresh and WebSocket tokens belong. */
export interface SessionsTable {
  id: string
  user_id: string
  /** Of the next refresh token to be used. Counts rotations from 1. */
  generation: Generated<number>
  /** Digest of the idempotency key of the last rotation, if it had one. */
  rotation_key: string | null
  created_at: Timestamp
  /** When that token was issued. */
  rotated_at: Timestamp
  expires_at: Timestamp
  /** Null while the session lasts. */
  ended_at: Timestamp | null
  /** When its user last proved to the identity provider who they are; null for a key. */
  authenticated_at: Timestamp | null
  /** What the client called itself at the sign-in. */
  user_agent: string | null
  /** The network it came from, never the whole address. */
  address_prefix: string
}

/** A session of a program, which has a secret instead of tokens. */
export interface PersonalKeysTable {
  /** Of its session. */
  id: string
  digest: string
  name: string
  scopes: string[]
  last_used_at: Timestamp | null
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
