/** Leaderboards of very many users: asking for places and tops, and moving users. */
import { performance } from 'node:perf_hooks'
import { Redis } from 'ioredis'
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import { districtId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import type { Standing } from '../../actors/community/ranking.ts'
import type { Boards } from '../../db/boards.ts'
import { BoardsMemory } from '../../db/boards-memory.ts'
import { connectBoards } from '../../db/boards-redis.ts'
import { keys } from '../../db/fast/fast-store.ts'
import type { BenchDatabase } from './bench-database.ts'
import { figure, type Section, spreadOf, table } from './report.ts'

const PAGE = 5_000
const ASKS = 2_000
const COUNTS = 20
const ROI = { by: 'roi', districtId: null } as const

const user = (n: number): UserId => userId(`00000000-0000-7000-8000-${String(n).padStart(12, '0')}`)

/** Drawn by a multiplicative hash, so that every run measures the same boards. */
const scattered = (n: number, below: number): number => (Math.imul(n + 1, 2_654_435_761) >>> 0) % below

const standing = (n: number, version = 1): Standing => ({
  userId: user(n),
  districtId: districtId(1 + (n % 12)),
  pnl: money((scattered(n * 7 + version, 2_000_000) - 1_000_000) * 1_000),
  baseMoves: money((scattered(n * 7 + version, 2_000_000) - 1_000_000) * 1_000),
  stake: money(1_000_000_000 + scattered(n, 1_000) * 1_000_000),
  closed: 20,
  wins: scattered(n * 3, 21),
  firstTradeAt: instant(1_780_000_000_000 + n),
  version,
})

async function* allStandings(users: number): AsyncGenerator<readonly Standing[]> {
  for (let from = 0; from < users; from += PAGE) {
    yield Array.from({ length: Math.min(PAGE, users - from) }, (_, n) => standing(from + n))
  }
}

interface Measured {
  readonly buildSecs: number
  /** Medians, in milliseconds. */
  readonly placeMs: number
  readonly top50Ms: number
  readonly top500Ms: number
  readonly putMs: number
}

async function measure(boards: Boards, users: number): Promise<Measured> {
  const begun = performance.now()
  await boards.build(allStandings(users))
  const buildSecs = (performance.now() - begun) / 1_000
  const placeMs = await median(ASKS, (n) => boards.place(ROI, user(scattered(n, users))))
  const top50Ms = await median(ASKS, () => boards.top(ROI, 50))
  const top500Ms = await median(ASKS / 10, () => boards.top(ROI, 500))
  const putMs = await median(ASKS, (n) => boards.put([standing(scattered(n, users), 2 + n)]))
  return { buildSecs, placeMs, top50Ms, top500Ms, putMs }
}

async function median(times: number, work: (n: number) => Promise<unknown>): Promise<number> {
  const took: number[] = []
  for (let n = 0; n < times; n++) {
    const from = performance.now()
    await work(n)
    took.push(performance.now() - from)
  }
  return spreadOf(took).median
}

/** In memory, against counting the better rows by an index that covers every key. */
export async function benchMemoryBoards({ connection: { db } }: BenchDatabase, users: number): Promise<Section> {
  const before = process.memoryUsage().rss
  const boards = new BoardsMemory()
  const memory = await measure(boards, users)
  const megabytes = (process.memoryUsage().rss - before) / 2 ** 20
  await sql`create table board (user_id integer primary key, roi integer not null, win integer not null)`.execute(db)
  await sql`
    insert into board select n, (random() * 1000000)::integer, (random() * 1000000)::integer
      from generate_series(1, ${users}::integer) n`.execute(db)
  await sql`create index board_key on board (roi desc, win desc)`.execute(db)
  await sql`vacuum analyze board`.execute(db)
  const countMs = await median(COUNTS, async (n) =>
    sql`select count(*) from board, (select roi, win from board where user_id = ${1 + scattered(n, users)}) mine
         where (board.roi, board.win) > (mine.roi, mine.win)`.execute(db),
  )
  const text = [
    `Leaderboards in memory, ${figure(users)} users (${figure(megabytes)} MB, built in ${figure(memory.buildSecs)} s)`,
    rows(memory),
    `A place is ${figure(countMs / memory.placeMs)} times as fast as counting in PostgreSQL (${figure(countMs)} ms).`,
  ].join('\n')
  return { text, data: { users, megabytes, countMs, ...memory } }
}

export interface RedisBench {
  readonly url: string
  readonly users: number
  readonly installation: string
}

/** On Redis, one query after the other. */
export async function benchRedisBoards({ url, users, installation }: RedisBench): Promise<Section> {
  const redis = new Redis(url)
  const used = async (): Promise<number> =>
    Number(present(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1], 'memory')) / 2 ** 20
  const before = await used()
  let builds = 0
  const boards = await connectBoards({ url, installation, purse: 'main', newId: () => String(++builds) })
  try {
    const measured = await measure(boards, users)
    const megabytes = (await used()) - before
    const built = `${figure(megabytes)} MB, built in ${figure(measured.buildSecs)} s`
    const text = `Leaderboards on Redis, ${figure(users)} users (${built})\n${rows(measured)}`
    return { text, data: { users, megabytes, ...measured } }
  } finally {
    for await (const found of redis.scanStream({ match: `${keys.boards(installation, 'main')}:*` })) {
      const left: string[] = found
      if (left.length > 0) await redis.unlink(left)
    }
    await boards.close()
    await redis.quit()
  }
}

const rows = (m: Measured): string =>
  table(
    ['median', 'ms'],
    [
      ['a place, and the next above', m.placeMs.toFixed(4)],
      ['the first 50', m.top50Ms.toFixed(4)],
      ['the first 500', m.top500Ms.toFixed(4)],
      ['a user moves', m.putMs.toFixed(4)],
    ],
  )
