/**
 * The baseline: what most servers do, a transaction per trade over a pool of connections. Same tables, constraints and
 * books as the product; seven round trips.
 */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { UserId } from '../../actors/kernel/ids.ts'

const MATCH = 90_000
const INSTRUMENT = '00000000-0000-5000-8000-000000000001'
const PRICE = 200_000_000
const LOTS = 10_000
const MARGIN = 1_000_000

export function naivePool(url: string, connections: number): pg.Pool {
  return new pg.Pool({ connectionString: url, max: connections })
}

/** Opens a position. Throws when the wallet cannot pay it. */
export async function naiveOpen(pool: pg.Pool, user: UserId): Promise<void> {
  const id = randomUUID()
  await transaction(pool, async (client) => {
    const wallet = await client.query<{ balance_micros: string; events: string }>(
      `select balance_micros, events from wallets where user_id = $1 and purse = 'main' for update`,
      [user],
    )
    const balance = Number(wallet.rows[0]?.balance_micros)
    if (!(balance >= MARGIN)) throw new Error('insufficient margin')
    const marker = Number(wallet.rows[0]?.events) + 1
    const position = { id, user, instrument: INSTRUMENT, price: PRICE, lots: LOTS, margin: MARGIN }
    await client.query(
      `insert into positions (id, user_id, purse, match_id, instrument_id, sign, lots_micros, open_micros,
                              open_base_micros, margin_micros, opened_at, closable_at, opened_marker)
       values ($1, $2, 'main', $3, $4, 1, $5, $6, $6, $7, now(), now(), $8)`,
      [id, user, MATCH, INSTRUMENT, LOTS, PRICE, MARGIN, marker],
    )
    await book(client, { user, position: id, amount: -MARGIN, marker })
    await client.query(
      `update wallets set balance_micros = balance_micros - $2, margin_micros = margin_micros + $2,
                          open_positions = open_positions + 1, events = events + 1, version = version + 1
        where user_id = $1 and purse = 'main'`,
      [user, MARGIN],
    )
    await client.query(
      `insert into command_results
         (id, user_id, fingerprint, result, balance_micros, margin_micros, unrealized_micros, at)
       values ($1, $2, $3, $4, $5, $6, 0, now())`,
      [randomUUID(), user, id, JSON.stringify({ position }), balance - MARGIN, MARGIN],
    )
  })
}

async function transaction(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

interface Entry {
  readonly user: string
  readonly position: string
  readonly amount: number
  readonly marker: number
}

/** The user's entry and the house's, which sum to zero. */
async function book(client: pg.PoolClient, { user, position, amount, marker }: Entry): Promise<void> {
  await client.query(
    `insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at, marker)
     values ($1, 'user', $2, 'main', $3, 'margin', $1, now(), $4), ($1, 'house', null, 'main', -$3, 'margin', $1, now(), null)`,
    [position, user, amount, marker],
  )
}
