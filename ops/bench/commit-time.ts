/** How long this machine takes to commit a row, which decides what batches gain. */
import pg from 'pg'
import { type Spread, spreadOf } from './report.ts'

const TIMES = 500

/** Median milliseconds of one connection's statements, in turn on the same connection. */
export interface CommitTime {
  /** An insertion of one row, a transaction of its own. */
  readonly insertMs: number
  /** A statement that commits nothing: the way there and back. */
  readonly emptyMs: number
}

export async function commitTime(url: string): Promise<CommitTime> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('create table if not exists commit_time (n int)')
    const insertMs = await medianMs(() => client.query({ name: 'insert', text: 'insert into commit_time values (1)' }))
    const emptyMs = await medianMs(() => client.query({ name: 'empty', text: 'select 1' }))
    await client.query('drop table commit_time')
    return { insertMs, emptyMs }
  } finally {
    await client.end()
  }
}

async function medianMs(run: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < TIMES; n++) {
    const began = performance.now()
    await run()
    times.push(performance.now() - began)
  }
  return spreadOf(times).median
}

/** One sentence about all rounds. */
export function describeCommitTime(rounds: readonly CommitTime[]): string {
  const spread = (part: keyof CommitTime): Spread => spreadOf(rounds.map((round) => round[part]))
  const of = (part: keyof CommitTime): string => {
    const { median, min, max } = spread(part)
    return `${median.toFixed(2)} ms (${min.toFixed(2)}..${max.toFixed(2)})`
  }
  return `One connection commits a row in ${of('insertMs')}; an empty statement takes ${of('emptyMs')}.`
}
