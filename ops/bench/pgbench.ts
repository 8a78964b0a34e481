/** PostgreSQL's own yardstick: pgbench's TPC-B-like transaction, prepared, in the benchmark's database. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { present } from '../../actors/kernel/assert.ts'

const run = promisify(execFile)

/** Rows of the tables, in units of 100,000 accounts: more than there are clients, so that no row is hot. */
const SCALE = '50'

/** Fills pgbench's tables. False when pgbench is not installed. */
export async function preparePgbench(url: string): Promise<boolean> {
  try {
    await run('pgbench', ['--initialize', '--quiet', '--scale', SCALE, url])
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

/** Transactions a second. */
export async function pgbench(
  url: string,
  clients: number,
  seconds: number,
): Promise<{ perSecond: number; meanMs: number }> {
  const options = {
    protocol: 'prepared',
    client: clients,
    jobs: Math.min(clients, 2),
    time: Math.max(1, Math.round(seconds)),
  }
  const words = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  const { stdout } = await run('pgbench', [...words, '--no-vacuum', url])
  const figure = (pattern: RegExp): number => Number(present(pattern.exec(stdout)?.[1], String(pattern)))
  return { perSecond: figure(/^tps = ([\d.]+)/m), meanMs: figure(/^latency average = ([\d.]+) ms/m) }
}
