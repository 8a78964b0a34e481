/** Sessions, which revocation and rotation of tokens rest on, and who has invited whom. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // A sign-in. Its tokens carry its id, and refresh tokens the generation too: each rotation makes the former one old.
  await sql`
    create table sessions (
      id uuid primary key,
      user_id uuid not null references users,
      generation integer not null default 1 check (generation > 0),
      rotated_at timestamptz not null,
      expires_at timestamptz not null,
      ended_at timestamptz
    )`.execute(db)
  await sql`create index sessions_expiry on sessions (expires_at)`.execute(db)
  await sql`create index sessions_ended on sessions (ended_at) where ended_at is not null`.execute(db)

  // A named invite has a code of its own and waits for somebody; an anonymous referral is made when somebody registers
  // with the referrer's code.
  await sql`
    create table referrals (
      id uuid primary key,
      referrer_id uuid not null references users,
      name text,
      code text unique,
      referee_id uuid unique references users,
      created_at timestamptz not null,
      registered_at timestamptz,
      credited_at timestamptz,
      reward_micros bigint not null default 0 check (reward_micros >= 0),
      check ((name is null) = (code is null)),
      check (code is not null or referee_id is not null),
      check ((referee_id is null) = (registered_at is null)),
      check (credited_at is null or referee_id is not null),
      check (referee_id <> referrer_id)
    )`.execute(db)
  await sql`create index referrals_referrer on referrals (referrer_id)`.execute(db)
}
