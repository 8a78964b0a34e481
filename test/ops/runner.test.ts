/** `npm run ops` and the check of the Node version, started as an operator starts them. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { TOOLS } from '../../ops/tool-table.ts'

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

  it('says in one line what its caller can correct', () => {
    const env = { ...process.env, DATABASE_URL: 'postgres://postgres@127.0.0.1:1/none' }
    const { status, stderr } = spawnSync(process.execPath, ['ops/main.ts', 'ledger-audit'], {
      cwd: ROOT,
      env,
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^connect ECONNREFUSED .*DATABASE_URL.*\n$/)])
    expect(run('ops/main.ts', 'legacy-import', 'none.csv').stderr).toMatch(/^ENOENT: .*none\.csv.*\n$/)
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
