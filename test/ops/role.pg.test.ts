/** The database role of the deployment files: enough for the server, and nothing more. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { connect } from '../../db/postgres/connect.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { migrate } from '../../db/postgres/migrate.ts'
import { onPostgres } from '../support/databases.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { hasTool } from '../support/tool.ts'

const OPS = join(import.meta.dirname, '../../ops')
const SCRIPT = readFileSync(join(OPS, 'deploy/postgres/role.sh'), 'utf8')
/** From a dump into a new database, as the runbook has it. */
const RESTORE = present(
  /^ *createdb [^]*? psql -c analyze .*$/m.exec(readFileSync(join(OPS, 'runbook.md'), 'utf8'))?.[0],
  'commands',
)

onPostgres((server) => {
  it.skipIf(!hasTool('psql'))(
    '[S26] migrates and owns its tables, restored ones too, and makes no role, no database and no file',
    async () => {
      const name = `touchline_role_${process.pid}`
      const admin = await connect({ databaseUrl: server, dataDir: null })
      const script = SCRIPT.replaceAll('touchline', name)
      const env = { ...process.env, DATABASE_PASSWORD: 'of the test' }
      const { status, stderr } = spawnSync('bash', ['-c', script, 'role.sh', server], { env, encoding: 'utf8' })
      expect([status, stderr]).toEqual([0, ''])
      const url = new URL(server)
      Object.assign(url, { username: name, password: 'of the test', pathname: `/${name}` })
      const own = await connect({ databaseUrl: url.href, dataDir: null })
      const isConfined = async ({ db }: Connection, database: string): Promise<void> => {
        const { rows } = await sql<{ owner: string }>`
        select distinct pg_get_userbyid(relowner) as owner from pg_class
         where relnamespace = 'public'::regnamespace`.execute(db)
        expect(rows).toEqual([{ owner: name }])
        for (const deed of [
          `create role ${name}_2`,
          `create database ${name}_2`,
          `drop database ${database}`,
          `create schema more`,
          `copy users to '/tmp/users'`,
          `copy users from program 'id'`,
          `select pg_read_file('/etc/passwd')`,
          `alter system set fsync = off`,
        ]) {
          await expect(sql.raw(deed).execute(db), deed).rejects.toThrow(/permission denied|must be owner|must be super/)
        }
      }
      try {
        expect((await migrate(own.db)).length).toBeGreaterThan(0)
        await isConfined(own, name)
        const dump = join(scratchFolder(), 'dump')
        execFileSync('pg_dump', ['-Fd', '-j', '4', '-f', dump, url.href])
        const { hostname, port, username, password } = new URL(server)
        const operator = { PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: password }
        const restore = RESTORE.replaceAll('touchline', name).replace(/\S+\.dump/, dump)
        execFileSync('bash', ['-ec', restore], { env: { ...process.env, ...operator } })
        url.pathname += '_restored'
        const restored = await connect({ databaseUrl: url.href, dataDir: null })
        try {
          expect(await migrate(restored.db)).toEqual([])
          await isConfined(restored, `${name}_restored`)
        } finally {
          await restored.close()
        }
      } finally {
        await own.close()
        await sql.raw(`drop database if exists ${name}_restored`).execute(admin.db)
        await sql.raw(`drop database ${name}`).execute(admin.db)
        await sql.raw(`drop role ${name}`).execute(admin.db)
        await admin.close()
      }
    },
  )
})
