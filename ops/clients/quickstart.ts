/**
 * Follows the quickstart of a server's API page word for word: runs its programs as the page shows them, with nothing
 * else, and says how long it took.
 *
 *   npm run ops -- quickstart [http://127.0.0.1:3000]
 *
 * Where the server has no sign-in by name, the key comes from TOUCHLINE_KEY. Needs bash, curl and python3. Ends with 1
 * when a program fails.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { promisify } from 'node:util'
import { reached } from '../rehearse/rig/options.ts'

/** The address in the programs, which the page's script replaces by its own. */
const ADDRESS = 'http://127.0.0.1:3000'
const PROGRAM_MS = 60_000
const COMMANDS: Readonly<Record<string, string>> = { sh: 'bash', mjs: process.execPath, py: 'python3' }
const ENTITIES: Readonly<Record<string, string>> = { quot: '"', lt: '<', gt: '>', amp: '&' }

const url = (process.argv[2] ?? ADDRESS).replace(/\/$/, '')
const secondsSince = (start: number): string => `${((performance.now() - start) / 1_000).toFixed(1)} s`

const page = await (await reached(url, '/api/docs')).text()
const programs = [...page.matchAll(/<code data-file="([\w.]+)">([^<]*)<\/code>/g)].map(([, name = '', shown = '']) => ({
  name,
  text: shown.replaceAll(/&(\w+);/g, (_, entity: string) => ENTITIES[entity] ?? '').replaceAll(ADDRESS, url),
}))
const folder = await mkdtemp(join(tmpdir(), 'touchline-quickstart-'))
const started = performance.now()
let TOUCHLINE_KEY = process.env['TOUCHLINE_KEY'] ?? ''
try {
  if (programs.length === 0) throw new Error(`${url}/api/docs shows no programs`)
  for (const { name, text } of programs) {
    const start = performance.now()
    await writeFile(join(folder, name), text)
    const env = { ...process.env, TOUCHLINE_URL: url, TOUCHLINE_KEY }
    const command = COMMANDS[name.slice(name.lastIndexOf('.') + 1)] ?? ''
    const { stdout } = await promisify(execFile)(command, [name], { cwd: folder, env, timeout: PROGRAM_MS })
    const last = stdout.trim().split('\n').at(-1) ?? ''
    // What the reader's shell would export.
    if (name === 'key.sh') TOUCHLINE_KEY = last
    console.log(`${name}: ${name === 'key.sh' ? `${last.slice(0, 7)}…` : last} (${secondsSince(start)})`)
  }
  console.log(`A key, two first prices and two first trades in ${secondsSince(started)}.`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await rm(folder, { recursive: true })
}
