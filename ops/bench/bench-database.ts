/** The database of a benchmark: made for it, filled with users, emptied between variants, audited, and dropped. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import { type UserId, userId } from '../../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { PURSES } from '../../actors/kernel/purse.ts'
import { texts } from '../../db/postgres/arrays.ts'
import { connect } from '../../db/postgres/connect.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { migrate } from '../../db/postgres/migrate.ts'
import { seedDistricts } from '../../db/seed.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { makeDatabase } from '../rehearse/rig/scratch-database.ts'

export interface BenchDatabase extends AsyncDisposable {
  readonly connection: Connection
  readonly url: string
  readonly users: readonly UserId[]
}

/** A new database on this server, with wallets for this many users. Durability is as the server has it. */
export async function createOnServer(server: string, users: number): Promise<BenchDatabase> {
  const { url, drop } = await makeDatabase(server, 'touchline_bench')
  const connection = await connect({ databaseUrl: url, dataDir: null })
  const close = async (): Promise<void> => {
    await connection.close()
    await drop()
  }
  try {
    return { connection, url, users: await populate(connection, users), [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

async function populate({ db }: Connection, users: number): Promise<UserId[]> {
  await migrate(db)
  await seedDistricts(db)
  const { rows } = await sql<{ id: string }>`
    insert into users (id, email, name, username, first_name, district_id, referral_code, synthetic, created_at)
      select gen_random_uuid(), n, n, 'user_' || n, n, 1, n, true, now() from generate_series(1, ${users}::integer) n
      returning id`.execute(db)
  return rows.map((row) => userId(row.id))
}

/** Deletes every trade and match and gives each user a fresh wallet, so that all variants start alike. */
export async function reset({ connection: { db } }: BenchDatabase): Promise<void> {
  await sql`truncate wallets, outbox, outbox_cursors, ledger_entries, positions, account_events, command_results, ticks, recent_trades, instruments, matches, match_leases,
            replays, tournaments, season_entries, league_members, league_matches, leagues, closed_balances`.execute(db)
  await sql`update ledger_closed set until = '-infinity', entries = 0, unbalanced = 0, main_micros = 0, practice_micros = 0,
              leagues_micros = 0`.execute(db)
  // Both wallets of a user side by side, as a registration writes them.
  await sql`insert into wallets (user_id, purse, balance_micros)
              select id, purse, ${STARTING_BALANCE}::bigint from users, unnest(${texts(PURSES)}::text[]) purse
               order by length(username), username`.execute(db)
  const tx = randomUUID()
  await sql`
    insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at)
      select ${tx}::uuid, 'user', user_id, purse, balance_micros, 'grant', user_id, now() from wallets
      union all
      select ${tx}::uuid, 'house', null, purse, -sum(balance_micros), 'grant', ${tx}::uuid, now()
        from wallets group by purse`.execute(db)
  await sql`vacuum analyze users, wallets`.execute(db)
  await sql`checkpoint`.execute(db)
}

export interface Expected {
  readonly opened: number
  readonly closed: number
  /** Commands with an idempotency key. */
  readonly keyed: number
}

/**
 * Throws unless exactly what was acknowledged is in the books: one position, one ledger entry and one stored result per
 * trade, every wallet the sum of its entries, and the sum of all entries zero.
 */
export async function audit({ connection: { db } }: BenchDatabase, expected: Expected): Promise<void> {
  const { rows } = await sql<Expected & { released: number; margins: number; held: number; open: number }>`
    select (select count(*) from positions) as opened,
           (select count(*) from positions where closed_at is not null) as closed,
           (select count(*) from command_results) + (select count(answer_fingerprint) from positions) as keyed,
           (select count(*) from ledger_entries where account = 'user' and kind = 'margin') as margins,
           (select count(*) from ledger_entries where account = 'user' and kind = 'release') as released,
           (select coalesce(sum(open_positions), 0) from wallets) as held,
           (select count(*) from positions where closed_at is null) as open`.execute(db)
  const found = present(rows[0], 'audit')
  const books = await new Wallets(db, unusedCache()).auditLedger()
  const complaints = [
    found.opened === expected.opened ? '' : `${found.opened} positions for ${expected.opened} acknowledged openings`,
    found.closed === expected.closed ? '' : `${found.closed} closed for ${expected.closed} acknowledged closes`,
    found.keyed === expected.keyed ? '' : `${found.keyed} stored results for ${expected.keyed} keyed commands`,
    found.margins === found.opened ? '' : `${found.margins} margins for ${found.opened} positions`,
    found.released === found.closed ? '' : `${found.released} releases for ${found.closed} closes`,
    found.held === found.open ? '' : `wallets count ${found.held} open positions of ${found.open}`,
    ...books.purses.map(({ purse, imbalanceMicros: off }) =>
      off === 0 ? '' : `the books of ${purse} are off by ${off}`,
    ),
    books.unbalancedTransactions === 0 ? '' : `${books.unbalancedTransactions} transactions do not balance`,
    books.mismatchedWallets === 0 ? '' : `${books.mismatchedWallets} wallets are not the sum of their entries`,
  ].filter((complaint) => complaint !== '')
  if (complaints.length > 0) throw new Error(`audit: ${complaints.join('; ')}`)
}

function unusedCache(): WalletCache {
  return new WalletCache(null, () => undefined)
}
