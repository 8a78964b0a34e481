/** `npm run ops` and the check of the Node version, started as an operator starts them. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { connect } from '../../db/postgres/connect.ts'
import { migrate } from '../../db/postgres/migrate.ts'
import { bareEnvironment } from '../../ops/rehearse/rig/bare-environment.ts'
import { TOOLS } from '../../ops/tool-table.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const ROOT = join(import.meta.dirname, '../..')
const run = (...args: readonly string[]) => spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })

describe('npm run ops', () => {
  it('lists every tool with one line of help', () => {
    const { status, stdout } = run('ops/main.ts')
    expect(status).toBe(0)
    for (const { name, help } of TOOLS) expect(stdout).toMatch(new RegExp(`^ {2}${name} +${RegExp.escape(help)}$`, 'm'))
  })

  it('names no tool twice', () => {
    expect(new Set(TOOLS.map(({ name }) => name)).size).toBe(TOOLS.length)
  })

  it('refuses an unknown tool, and lists those that exist', () => {
    const { status, stdout, stderr } = run('ops/main.ts', 'lode')
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^There is no tool lode\.\n/)
    expect(stderr).toContain('load-hostile')
  })

  it('passes the options on to the tool', () => {
    const { status, stderr } = run('ops/main.ts', 'integrity', '--seeds', 'many')
    expect([status, stderr]).toEqual([2, expect.stringMatching(/--seeds .* 'many'/)])
  })

  it('shows how a tool is used, and answers an option that it does not know in one line', () => {
    const { status, stdout } = run('ops/main.ts', 'load', '--help')
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^Loads a server [^]*\n {2}npm run ops -- load /)])
    for (const { name } of TOOLS.slice(0, 3))
      expect(run('ops/main.ts', name, '--help').stdout.length).toBeGreaterThan(40)
    const wrong = run('ops/main.ts', 'load', '--frobnicate')
    const line = "Unknown option '--frobnicate'\nSee npm run ops -- load --help\n"
    expect([wrong.status, wrong.stderr]).toEqual([2, line])
    const careless = run('ops/main.ts', 'reactions-rebuild', '--dry-run')
    const refusal = "Unknown option '--dry-run'\nSee npm run ops -- reactions-rebuild --help\n"
    expect([careless.status, careless.stdout, careless.stderr]).toEqual([2, '', refusal])
  })

  it.each([
    [['conformance', '--url', ''], '--url names no address'],
    [['conformance', '--url', 'http://127.0.0.1:1', '--mode', 'embedded'], '--url and --mode exclude each other'],
    [['conformance', '--only', '4.3,4.33,x'], 'there is no check 4.33, x'],
    [['chaos-mutants', '--only', 'no such words'], 'there is no protection no such words'],
    [['tape-forgeries', '--bytes', 'many'], "--bytes must be a whole number from 1 to 1000000000; it is 'many'"],
    [['market', '--matches', '0'], '--matches 0 needs a recording: no match would be played'],
    [['quarantine', '--every', '0'], "--every must be a whole number from 1 to 1000000000; it is '0'"],
    [['drill', 'cheat-ring', 'feed-lies'], 'name one incident, or `all`'],
    [['bench-parts', '--seconds', '0'], "--seconds must be a whole number from 1 to 3600; it is '0'"],
    [['bench-reads', '--seconds', 'many'], "--seconds must be a whole number from 1 to 3600; it is 'many'"],
    [['bench-storm', '--rounds', '0'], "--rounds must be a whole number from 1 to 100; it is '0'"],
    [['bench-week', '--users', 'all'], "--users must be a whole number from 1000 to 1000000; it is 'all'"],
    [['bench-fulltime', '--holders', '1000,'], "--holders must be a whole number from 1 to 1000000; it is ''"],
    [['bench-growth', '--rows', 'few'], "--rows must be a whole number from 1 to 1000000000; it is 'few'"],
    [['bench-growth', '--rows', '', '--matches', ''], '--rows and --matches are empty: nothing would be measured'],
    [['bench-hot', '--only', 'match,none'], '--only knows match, orders, sign-ins, not none'],
    [
      ['bench:fanout', '--part', 'rooms', '--sockets', '10000'],
      "--part rooms has at most 5000 --sockets; it is '10000'",
    ],
    [['provider-mock'], 'name a recording: npm run ops -- provider-mock ops/replays/cup-night.jsonl.br'],
    [['provider-mock', 'a', '--speed', '0'], "--speed must be a number up to 10000; it is '0'"],
    [['provider-mock', 'a', '--port', 'x'], "--port must be a whole number from 0 to 65535; it is 'x'"],
    [['provider-mock', 'a', '--fixture', 'x'], "--fixture must be a whole number from 1 to 1000000000; it is 'x'"],
    [['provider-mock', 'a', '--seed', 'x'], "--seed must be a whole number from 0 to 1000000000; it is 'x'"],
    [['legacy-import', 'a.csv', 'b.csv'], 'name one file: npm run ops -- legacy-import trades.csv'],
  ] as const)('refuses %j, which would check something else or nothing', (args, why) => {
    const { status, stderr } = run('ops/main.ts', ...args)
    expect([status, stderr]).toEqual([2, `${why}\n`])
  })

  it('ends with 2 where no server answers', () => {
    const args = ['ops/main.ts', 'trade', 'ops/examples/strategy.ts', '--url', 'http://127.0.0.1:1']
    const env = { ...process.env, TOUCHLINE_KEY: 'tl_none' }
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' })
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^http:\/\/127\.0\.0\.1:1 does not answer: .*\n$/)])
  })

  /** A tool on the database of these variables alone: no `.env` is in its folder. */
  const runOn = (variables: Readonly<Record<string, string>>, ...args: readonly string[]) => {
    const env = { ...bareEnvironment(), ...variables }
    const main = join(ROOT, 'ops/main.ts')
    return spawnSync(process.execPath, [main, ...args], { cwd: scratchFolder(), env, encoding: 'utf8' })
  }

  it.each([['ledger-audit'], ['months'], ['at', '1']])(
    'says in one line what the caller of %s can correct, and which database it is, without the password',
    (...args) => {
      const { status, stderr } = runOn({ DATABASE_URL: 'postgres://postgres:hush@127.0.0.1:1/none' }, ...args)
      const lines = /^database: 127\.0\.0\.1:1\/none\nconnect ECONNREFUSED .*DATABASE_URL.*\n$/
      expect([status, stderr]).toEqual([2, expect.stringMatching(lines)])
    },
  )

  it.each([
    [['bench-takeover'], {}, 2, /^DATABASE_URL must name a PostgreSQL server/],
    [['bench-takeover'], { DATABASE_URL: 'postgres://127.0.0.1:1/none', PATH: '/none' }, 1, /redis-server ENOENT/],
    [['chaos', '--relays'], { DATABASE_URL: 'postgres://127.0.0.1:1/none', PATH: '/none' }, 1, /ENOENT/],
    [['bench-compare', 'trade', '--from', 'none'], {}, 2, /^--from names no commit: none\n$/],
    [['page-walk'], { CHROMIUM: '/none' }, 1, /\/none/],
  ] as const)('leaves nothing behind when %j cannot start with %j', (args, variables, code, why) => {
    const folder = scratchFolder()
    const { status, stderr } = runOn({ ...variables, TMPDIR: folder }, ...args)
    expect([status, stderr]).toEqual([code, expect.stringMatching(why)])
    expect(readdirSync(folder).filter((name) => name.startsWith('touchline-'))).toEqual([])
  })

  it('says in one line what is wrong with an argument', () => {
    const missing = run('ops/main.ts', 'legacy-import', 'none.csv')
    expect([missing.status, missing.stderr]).toEqual([2, expect.stringMatching(/^ENOENT: .*none\.csv.*\n$/)])
    const unreadable = run('ops/main.ts', 'audit-verify', '--head', 'x')
    expect([unreadable.status, unreadable.stderr]).toEqual([2, expect.stringMatching(/^--head takes .*not x\n$/)])
    expect(run('ops/main.ts', 'spinner-verify', '--noted', 'x').status).toBe(2)
    expect(run('ops/main.ts', 'prices-verify', '--generated', 'x').status).toBe(2)
  })

  it.each(['ledger-audit', 'audit-verify', 'reactions-rebuild', 'migrate'])(
    '%s makes no database where there is none',
    (tool) => {
      const folder = join(scratchFolder(), 'data')
      const { status, stdout, stderr } = runOn({ DATA_DIR: folder }, tool)
      const why = `DATABASE_URL is not set, and there is no embedded database in ${folder}\n`
      expect([status, stdout, stderr]).toEqual([2, '', why])
      expect(existsSync(folder)).toBe(false)
    },
  )

  it.each([
    ['ledger-audit', true, 'there is no wallet: nothing was checked'],
    ['tape-verify', true, 'there is no tape: nothing was checked'],
    ['ledger-audit', false, 'no migration has run in it: it is not the database of a server'],
  ])('%s, migrated %s, does not call a database sound in which there is nothing', async (tool, isMigrated, why) => {
    const folder = scratchFolder()
    const connection = await connect({ databaseUrl: null, dataDir: folder })
    await connection.withoutTimeout((db) => migrate(db))
    if (!isMigrated) await sql`drop table schema_migrations`.execute(connection.db)
    await connection.close()
    const { status, stderr } = runOn({ DATA_DIR: folder }, tool)
    expect([status, stderr]).toEqual([2, `database: embedded, in ${folder}\n${why}\n`])
  })
})

describe('the check of the Node version', () => {
  it('names the needed version in one line where the sources cannot run', () => {
    const { status, stdout, stderr } = run('--no-experimental-strip-types', 'ops/node-version.cjs')
    const line = `Touchline needs Node 22.18 or newer; this is ${process.version}: https://nodejs.org\n`
    expect([status, stdout, stderr]).toEqual([1, '', line])
  })

  it('says nothing on a Node that runs the sources', () => {
    expect(run('ops/node-version.cjs')).toMatchObject({ status: 0, stdout: '', stderr: '' })
  })
})
