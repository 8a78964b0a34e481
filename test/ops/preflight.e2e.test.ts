import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { IdentityProvider } from '../../ops/rehearse/conformance/identity-provider.ts'
import { MailServer } from '../../ops/rehearse/conformance/mail-server.ts'
import { bareEnvironment } from '../../ops/rehearse/rig/bare-environment.ts'
import { OwnRedis } from '../../ops/rehearse/rig/redis.ts'
import { checkForesight } from '../../ops/tools/preflight/foresight.ts'
import { find, ok } from '../../ops/tools/preflight/finding.ts'
import { checkMail, checkProvider } from '../../ops/tools/preflight/outside.ts'
import { checkDatabase, checkRedis } from '../../ops/tools/preflight/stores.ts'
import { migrate } from '../../db/postgres/migrate.ts'
import { readConfig } from '../../src/config.ts'
import { killRemaining, Program } from '../support/process.ts'
import { RedisNodes } from '../support/redis-cluster.ts'
import { onServers, type ServerPlace } from '../support/data-place.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const PREFLIGHT = join(import.meta.dirname, '../../ops/tools/preflight/main.ts')
const NOWHERE = '127.0.0.1:9'

afterEach(killRemaining)

/** Its output and exit code, in exactly this environment. */
function preflight(settings: Readonly<Record<string, string>>, addresses: readonly string[] = []) {
  const env = { ...bareEnvironment(), ...settings }
  return new Promise<{ readonly code: unknown; readonly said: string }>((resolve) => {
    execFile(process.execPath, [PREFLIGHT, ...addresses], { env, cwd: tmpdir() }, (error, said) => {
      resolve({ code: error?.code ?? 0, said })
    })
  })
}

describe('preflight', () => {
  it('lists everything wrong with the configuration, and exits with 1', async () => {
    const { code, said } = await preflight({ NODE_ENV: 'production', PORT: 'x' })
    expect(code).toBe(1)
    for (const name of ['PORT', 'DATABASE_URL', 'JWT_PRIVATE_KEY', 'IDP_CLIENT_ID'])
      expect(said).toMatch(new RegExp(`^FAIL  configuration +${name}: `, 'm'))
  })

  it('reports each part that does not answer, and checks the others', async () => {
    const { code, said } = await preflight(
      {
        DATABASE_URL: `postgres://nobody@${NOWHERE}/none`,
        REDIS_URL: `redis://${NOWHERE}`,
        IDP_JWKS_URL: `http://${NOWHERE}/keys`,
        PROVIDER_URL: `http://${NOWHERE}`,
        PROVIDER_TOKEN: 'token',
        SMTP_URL: `smtp://${NOWHERE}`,
      },
      [`http://${NOWHERE}`, `ws://${NOWHERE}`],
    )
    expect(code).toBe(1)
    const failures = said.split('\n').filter((line) => line.startsWith('FAIL'))
    const parts = [
      'database',
      'redis',
      'identity provider',
      'match data',
      'mail',
      `http://${NOWHERE}`,
      `ws://${NOWHERE}`,
    ]
    expect(failures.map((line) => line.slice(6).split(/ {2}/)[0])).toEqual(parts)
  })

  it('fails a check that takes too long or throws', async () => {
    expect(await find('it', 1_000, async () => [ok('it', 'is fine')])).toEqual([ok('it', 'is fine')])
    expect(await find('it', 1, () => new Promise(() => undefined))).toMatchObject([{ what: 'it', verdict: 'failed' }])
    const broken = new Error('no way in', { cause: new Error('wrong password') })
    expect(await find('it', 1_000, () => Promise.reject(broken))).toEqual([
      { what: 'it', verdict: 'failed', says: 'no way in (wrong password)' },
    ])
  })

  it('warns of missing settings that may be intended', async () => {
    const config = readConfig({})
    const found = await Promise.all([
      checkDatabase(config),
      checkRedis(config),
      checkProvider(config),
      checkMail(config),
    ])
    expect(found.flat().map(({ verdict }) => verdict)).toEqual(['warned', 'warned', 'warned', 'warned'])
  })

  it('asks the mail server whether it accepts our mail', async () => {
    const server = await MailServer.start()
    onTestFinished(() => server.stop())
    const found = await checkMail(readConfig({ SMTP_URL: server.url, MAIL_FROM: 'play@touchline.example' }))
    expect(found).toMatchObject([{ what: 'mail', verdict: 'ok' }])
    expect(server.received).toEqual([])
  })

  onServers((settle) => {
    async function site(): Promise<ServerPlace> {
      const settled = await settle()
      onTestFinished(() => settled.remove())
      await settled.look(({ db }) => migrate(db))
      return settled
    }

    it('finds a running deployment ready, with a token of its own, and changes nothing', async () => {
      const { env } = await site()
      const identity = await IdentityProvider.start()
      onTestFinished(() => identity.stop())
      const settings = { ...env, IDP_JWKS_URL: identity.keysUrl }
      const program = new Program({ ...settings, DEMO_REPLAY: 'none' })
      const { url, wsUrl } = await program.listening
      const { code, said } = await preflight(settings, [url, wsUrl])
      expect(said).not.toContain('FAIL')
      expect(said).toMatch(/^ok {4}ws:\/\/.* lets our token in, answers in \d+ ms$/m)
      expect(said).toMatch(/^ok {4}migrations +all \d+ have run$/m)
      expect(code).toBe(0)

      const strangerKey = { ...settings, DATA_DIR: join(env['DATA_DIR'] ?? '', 'another') }
      const refused = await preflight(strangerKey, [wsUrl])
      expect(refused.said).toMatch(/^FAIL {2}ws:\/\/.*4001 invalid token/m)
    })

    it('refuses every Redis that may drop keys', async () => {
      const folder = scratchFolder()
      const redis = await OwnRedis.start(folder)
      onTestFinished(() => redis.kill())
      const verdict = async (policy: string) => {
        await redis.set('maxmemory-policy', policy)
        return (await checkRedis(readConfig({ REDIS_URL: redis.url }))).map(({ verdict: found }) => found)
      }
      expect(await verdict('noeviction')).toEqual(['ok'])
      for (const policy of ['allkeys-lru', 'allkeys-random', 'volatile-lru', 'volatile-lfu', 'volatile-ttl']) {
        expect(await verdict(policy), policy).toEqual(['failed'])
      }
    })

    it('asks every node of a cluster', async () => {
      const nodes = await RedisNodes.start()
      onTestFinished(() => nodes.stop())
      const check = async (url: string) =>
        (await checkRedis(readConfig({ REDIS_URL: url }))).map(({ verdict }) => verdict)
      expect(await check(nodes.url)).toEqual(Array.from({ length: 7 }, () => 'ok'))
      for (const node of [1, 5]) await nodes.set(node, 'maxmemory-policy', 'allkeys-lru')
      expect((await check(nodes.url)).filter((verdict) => verdict === 'failed')).toHaveLength(2)
      // As one server it would start, and fail on most keys.
      expect(await check(nodes.url.replace('+cluster', ''))).toEqual(['failed'])
    })

    it('warns where users who are ahead of the feed are paid for it, with the figures', async () => {
      const settled = await site()
      const provider = { PROVIDER_URL: `http://${NOWHERE}`, PROVIDER_TOKEN: 'token' }
      const config = { ...readConfig({ ...settled.env, ...provider }), production: true }
      expect(await checkForesight(config)).toMatchObject([
        { what: 'replays', verdict: 'warned' },
        { what: 'protection', verdict: 'warned', says: expect.stringMatching(/earns \d+ % of margin a trade/) },
      ])
      await settled.look(async ({ db }) => {
        const rows = sql`('trading.protection', '"on"', now()), ('replays.practice', 'true', now())`
        await sql`insert into settings (key, value, updated_at) values ${rows}`.execute(db)
      })
      expect(await checkForesight(config)).toMatchObject([
        { what: 'replays', verdict: 'ok' },
        { what: 'protection', verdict: 'ok' },
      ])
    })

    it('fails on a database that can lose commits or has a newer schema', async () => {
      const settled = await site()
      const config = readConfig({ ...settled.env })
      const verdicts = async () => (await checkDatabase(config)).map(({ what, verdict }) => `${what} ${verdict}`)
      expect(await verdicts()).toContain('migrations ok')
      await settled.look(async ({ db }) => {
        const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db)
        await sql`alter database ${sql.id(rows[0]?.name ?? '')} set synchronous_commit = off`.execute(db)
        await sql`insert into schema_migrations (name, is_breaking) values ('9999-tomorrow', true)`.execute(db)
      })
      expect(await verdicts()).toEqual(expect.arrayContaining(['database failed', 'migrations failed']))
    })
  })
})
