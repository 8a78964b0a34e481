/** dev scaffold */
import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import { audit, createOnServer, reset } from './bench-database.ts'
import { closedLoop } from './closed-loop.ts'
import { BenchMatch } from './matches.ts'
import { naiveOpen, naivePool } from './naive.ts'

const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL'] ?? ''
const [only = '', secs = '3'] = process.argv.slice(2)
const pgCpu = async () => {
  const { rows } = await sql<{
    pid: number
  }>`select pid from pg_stat_activity where datname = current_database()`.execute(db.connection.db)
  return rows.reduce((sum, { pid }) => {
    const f = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return sum + (Number(f[11]) + Number(f[12])) * 10_000
  }, 0)
}
const db = await createOnServer(server, 100_000)
try {
  for (const spec of only.split(',')) {
    await reset(db)
    const [kind, c, m] = spec.split(':')
    const callers = Number(c)
    if (kind === 'actor') {
      let turn = 0
      const matches = await BenchMatch.start(db.connection, Number(m))
      const warm = await closedLoop({
        callers,
        seconds: 1,
        warmUpSeconds: 1,
        ask: async (n) => {
          await present(matches[n % matches.length], 'match').open(
            present(db.users[(turn++ * 7919) % db.users.length], 'user'),
          )
        },
      })
      const pg0 = await pgCpu()
      const cpu = process.cpuUsage()
      const load = await closedLoop({
        callers,
        seconds: Number(secs),
        warmUpSeconds: 0,
        ask: async (n) => {
          const user = present(db.users[turn++ % db.users.length], 'user')
          await present(matches[n % matches.length], 'match').open(user)
        },
      })
      const used = process.cpuUsage(cpu)
      const pg1 = await pgCpu()
      await Promise.all(matches.map((x) => x.stop()))
      await audit(db, { opened: load.answered + warm.answered, closed: 0, keyed: load.answered + warm.answered })
      console.log(
        spec,
        load,
        'pg us/trade',
        Math.round((pg1 - pg0) / load.answered),
        'node us/trade',
        Math.round((used.user + used.system) / load.answered),
      )
    } else {
      const pool = naivePool(present(db.url, 'url'), callers)
      let turn = 0
      const load = await closedLoop({
        callers,
        seconds: Number(secs),
        warmUpSeconds: 1,
        ask: async () => {
          await naiveOpen(
            pool,
            present(db.users[turn++ % db.users.length], 'user'),
            '00000000-0000-5000-8000-000000000001',
          )
        },
      })
      await pool.end()
      await audit(db, { opened: load.answered, closed: 0, keyed: load.answered })
      console.log(spec, load)
    }
  }
} finally {
  await db.close()
}
