/**
 * Measures the cost of community features, in one run on one machine:
 *
 *   npm run ops -- bench-community [--only boards,redis,reactions] [--users 1000000] [--commits 200] [--json]
 *
 * Boards: places, tops and moves among this many users, in memory and on Redis (REDIS_URL or TEST_REDIS_URL), against
 * counting rows in PostgreSQL. Reactions: processing commits of 500 trades, against commits of one. DATABASE_URL (or
 * TEST_DATABASE_URL) names a PostgreSQL server; a database is made there and dropped.
 */
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { present } from '../../actors/kernel/assert.ts'
import { type BenchDatabase, createOnServer } from './bench-database.ts'
import { benchMemoryBoards, benchRedisBoards } from './boards.ts'
import { benchReactions } from './reactions.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'boards,redis,reactions' },
    users: { type: 'string', default: '1000000' },
    commits: { type: 'string', default: '200' },
    json: { type: 'boolean', default: false },
  },
})
const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
const redisUrl = process.env['REDIS_URL'] ?? process.env['TEST_REDIS_URL']
if (server === undefined) throw new Error('DATABASE_URL must name a PostgreSQL server to measure on')
const users = Number(options.users)

const onDatabase = async <T>(people: number, work: (database: BenchDatabase) => Promise<T>): Promise<T> => {
  const database = await createOnServer(server, people)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}
const sections = {
  boards: () => onDatabase(1, (database) => benchMemoryBoards(database, users)),
  redis: () => benchRedisBoards({ url: present(redisUrl, 'REDIS_URL'), users, installation: `bench-${randomUUID()}` }),
  reactions: () => onDatabase(5_000, (database) => benchReactions(database, Number(options.commits))),
}
for (const name of options.only.split(',')) {
  const section = await present(Object.entries(sections).find(([key]) => key === name)?.[1], `a section ${name}`)()
  console.log(options.json ? JSON.stringify({ section: name, ...section.data }) : `\n${section.text}`)
}
