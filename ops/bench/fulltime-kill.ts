/** Kills the process that reacts, again and again, and compares the result with that of one that was never killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { copyDatabase } from '../rehearse/rig/scratch-database.ts'
import type { BenchDatabase } from './bench-database.ts'
import { present } from '../../actors/kernel/assert.ts'

const REACTOR = join(import.meta.dirname, 'fulltime-reactor.ts')

/** What reactions write, without what differs between two runs: numbers that a sequence gives, and the clock. */
const WRITTEN: Readonly<Record<string, string>> = {
  careers: 'select * from careers',
  users: 'select id, xp from users',
  user_badges: 'select * from user_badges',
  trade_days: 'select * from trade_days',
  week_scores: 'select * from week_scores',
  notifications: 'select user_id, type, title, body, data, source, created_at, read_at from notifications',
  activity: 'select user_id, district_id, type, text, data, source, at from activity',
  board_changes: 'select * from board_changes',
  wallets: 'select * from wallets',
  outbox_cursors: 'select match_id, seq, attempts, finished from outbox_cursors',
  outbox_failures: 'select * from outbox_failures',
}

/** Throws when a row differs. The database's own connections are closed first: it is copied. */
export async function killedReactions(
  server: string,
  database: BenchDatabase,
  kills: number,
): Promise<{ readonly kills: number; readonly tables: number; readonly unkilledMs: number }> {
  const url = database.url
  await database.connection.close()
  const copy = await copyDatabase(server, url)
  try {
    const unkilledMs = await lifeOf(react(url))
    let killed = 0
    for (let isDone = false; !isDone && killed < kills;) {
      const child = react(copy.url)
      const exited = once(child, 'exit')
      await Promise.race([exited, once(present(child.stdout, 'output'), 'data')])
      // Long enough for a part of the work, and short enough for all the kills.
      await Promise.race([exited, pause(Math.random() * (unkilledMs / kills))])
      isDone = child.exitCode !== null
      if (!isDone) {
        child.kill('SIGKILL')
        await exited
        killed++
      }
    }
    await lifeOf(react(copy.url))
    const [expected, found] = await Promise.all([digests(url), digests(copy.url)])
    const differing = Object.keys(WRITTEN).filter((name) => expected[name] !== found[name])
    if (differing.length > 0) throw new Error(`after ${killed} kills these tables differ: ${differing.join(', ')}`)
    return { kills: killed, tables: Object.keys(WRITTEN).length, unkilledMs }
  } finally {
    await copy.drop()
  }
}

const react = (url: string): ChildProcess =>
  spawn(process.execPath, [REACTOR], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  })

/** Waits until a process has done everything, and returns how long it reacted. */
async function lifeOf(child: ChildProcess): Promise<number> {
  const exited = once(child, 'exit')
  await Promise.race([exited, once(present(child.stdout, 'output'), 'data')])
  const begun = performance.now()
  const [code] = await exited
  if (code !== 0) throw new Error(`the reacting process ended with ${code}`)
  return performance.now() - begun
}

async function digests(url: string): Promise<Readonly<Record<string, string>>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const found: Record<string, string> = {}
    for (const [name, query] of Object.entries(WRITTEN)) {
      const { rows } = await client.query<{ digest: string }>(
        `select count(*) || ':' || coalesce(md5(string_agg(md5(r::text), '' order by md5(r::text))), '') as digest from (${query}) r`,
      )
      found[name] = present(rows[0], 'digest').digest
    }
    return found
  } finally {
    await client.end()
  }
}
