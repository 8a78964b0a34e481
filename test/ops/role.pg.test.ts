/** The database role of the deployment files: enough for the server, and nothing more. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { connect } from '../../db/postgres/connect.ts'
import { migrate } from '../../db/postgres/migrate.ts'
import { onPostgres } from '../support/databases.ts'
import { hasTool } from '../support/tool.ts'

const SCRIPT = readFileSync(join(import.meta.dirname, '../../ops/deploy/postgres/role.sh'), 'utf8')

onPostgres((server) => {
  it.skipIf(!hasTool('psql'))(
    '[S26] migrates and owns its tables, and makes no role, no database and no file',
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
      try {
        expect((await migrate(own.db)).length).toBeGreaterThan(0)
        const { rows } = await sql<{ owner: string }>`
        select distinct pg_get_userbyid(relowner) as owner from pg_class
         where relnamespace = 'public'::regnamespace`.execute(own.db)
        expect(rows).toEqual([{ owner: name }])
        for (const deed of [
          `create role ${name}_2`,
          `create database ${name}_2`,
          `drop database ${name}`,
          `create schema more`,
          `copy users to '/tmp/users'`,
          `copy users from program 'id'`,
          `select pg_read_file('/etc/passwd')`,
          `alter system set fsync = off`,
        ]) {
          await expect(sql.raw(deed).execute(own.db), deed).rejects.toThrow(
            /permission denied|must be owner|must be super/,
          )
        }
      } finally {
        await own.close()
        await sql.raw(`drop database ${name}`).execute(admin.db)
        await sql.raw(`drop role ${name}`).execute(admin.db)
        await admin.close()
      }
    },
  )
})
