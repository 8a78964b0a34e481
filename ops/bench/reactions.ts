/** How fast reactions process commits: commits of 500 trades, as a busy match makes them, and commits of one trade. */
import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { sql } from 'kysely'
import type { UserId } from '../../actors/kernel/ids.ts'
import type { CommittedEvent } from '../../actors/community/committed-event.ts'
import { Outbox } from '../../db/outbox.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { react } from '../../src/reactions/react.ts'
import { systemWorld } from '../../src/system-world.ts'
import type { BenchDatabase } from './bench-database.ts'
import { figure, type Section, table } from './report.ts'

const BATCH = 500

export async function benchReactions(database: BenchDatabase, commits: number): Promise<Section> {
  const full = await reactTo(database, { match: 1, commits, trades: BATCH })
  const single = await reactTo(database, { match: 2, commits: commits * 10, trades: 1 })
  const text = [
    'Reactions: trades of the outbox a second until careers, weeks, badges and notices are durable',
    table(
      ['trades a commit', 'trades/s', 'commits/s'],
      [
        [String(BATCH), figure(full.tradesPerSec), figure(full.commitsPerSec)],
        ['1', figure(single.tradesPerSec), figure(single.commitsPerSec)],
      ],
    ),
    `Trades committed together are reacted to ${figure(full.tradesPerSec / single.tradesPerSec)} times as fast.`,
  ].join('\n')
  return { text, data: { full, single } }
}

async function reactTo({ connection, users }: BenchDatabase, of: { match: number; commits: number; trades: number }) {
  const { db } = connection
  for (let seq = 1; seq <= of.commits; seq++) {
    const events = Array.from({ length: of.trades }, (_, n) => {
      const user = users[(seq * of.trades + n) % users.length]
      return user === undefined ? [] : tradeOf(user, seq + n)
    }).flat()
    await sql`
      insert into outbox (match_id, seq, at, events)
        values (${of.match}, ${seq}, now(), ${JSON.stringify(events)}::json)`.execute(db)
  }
  await sql`insert into outbox_cursors (match_id) values (${of.match})`.execute(db)
  await sql`analyze outbox`.execute(db)
  const world = systemWorld()
  const outbox = new Outbox(db, new WalletCache(null, () => undefined), world)
  const before = await openings(db)
  const begun = performance.now()
  for (let reacted = await outbox.react(react); reacted !== null; reacted = await outbox.react(react)) {
    if (reacted.kind === 'failed') throw reacted.error
  }
  const secs = (performance.now() - begun) / 1_000
  const counted = (await openings(db)) - before
  if (counted !== of.commits * of.trades) throw new Error(`${counted} openings counted of ${of.commits * of.trades}`)
  return { tradesPerSec: (2 * of.commits * of.trades) / secs, commitsPerSec: of.commits / secs }
}

async function openings(db: BenchDatabase['connection']['db']): Promise<number> {
  const { rows } = await sql<{ opened: string }>`select coalesce(sum(opened), 0)::text as opened from careers`.execute(
    db,
  )
  return Number(rows[0]?.opened)
}

/** A user opens a position, and another of theirs is closed. */
function tradeOf(user: UserId, n: number): CommittedEvent[] {
  const of = {
    positionId: randomUUID(),
    userId: user,
    purse: 'main',
    instrumentId: randomUUID(),
    direction: 'long',
    lots: 1_000_000,
    margin: 100_000_000,
  }
  const pnl = (n % 21) * 1_000_000 - 10_000_000
  return [
    { kind: 'opened', userId: user, purse: 'main' },
    { kind: 'closed', ...of, pnl, baseMove: pnl, openedAt: Date.now(), by: 'user' },
  ] as CommittedEvent[]
}
