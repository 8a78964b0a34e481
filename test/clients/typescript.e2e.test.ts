/** The package for TypeScript, made and used as its users do. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ComposedServer } from '../support/composed-server.ts'
import { embeddedPlace } from '../support/data-place.ts'
import { liveSession } from './live-session.ts'

const BUSY_MACHINE_MS = 120_000
const TSC = join(dirname(findPackageJSON('typescript', import.meta.url) ?? ''), 'bin/tsc')
const OPS = join(import.meta.dirname, '../../ops/main.ts')

const home = mkdtempSync(join(tmpdir(), 'touchline-package-'))
const packed = join(home, 'node_modules/touchline-client')
beforeAll(() => {
  execFileSync(process.execPath, [OPS, 'client-pack', packed])
}, BUSY_MACHINE_MS)
afterAll(() => rmSync(home, { recursive: true }))

/** The complaints of the compiler about a program that uses the package. */
function complaints(source: string): string {
  writeFileSync(join(home, 'user.mts'), source)
  const options = ['--noEmit', '--strict', '--target', 'esnext', '--module', 'nodenext', '--types', '']
  return spawnSync(process.execPath, [TSC, ...options, 'user.mts'], { cwd: home, encoding: 'utf8' }).stdout
}

it('a package has types of every operation, and its declarations need nothing else', () => {
  const right = `
    import { createApi, Feed, type Position } from 'touchline-client'
    import { createRest } from 'touchline-client/operations'
    const api = createApi({ key: 'tl_x' })
    export const feed = new Feed({ token: api.socketToken, onPrice: ({ price }) => price.toFixed(2) })
    const call = createRest(api)
    const { positions } = await call('listPositions', { query: { status: 'closed' } })
    export const first: Position | undefined = positions[0]
    export const mine = (await call('getWallet')).balance * 2`
  expect(complaints(right)).toBe('')
  expect(complaints(right.replace("'closed'", "'shut'"))).toContain('"shut"')
  expect(complaints(right.replace('.balance', '.balanse'))).toContain('balanse')
  expect(complaints(right.replace('listPositions', 'listPosition'))).toContain('listPosition')
})

it('its readme compiles', () => {
  const fences = readFileSync(join(packed, 'README.md'), 'utf8').matchAll(/```js\n(.*?)```/gs)
  const program = Array.from(fences, ([, code]) => code).join('')
  expect(complaints(`declare const process: { env: Record<string, string> }\n${program}`)).toBe('')
  expect(complaints(program)).toContain('process')
})

it(
  'a plain program with a key trades, resumes after a lost socket without a gap, and closes',
  async () => {
    copyFileSync(join(import.meta.dirname, 'session.mjs'), join(home, 'session.mjs'))
    await liveSession(process.execPath, [join(home, 'session.mjs')])
  },
  BUSY_MACHINE_MS,
)

it(
  'a plain program that keeps cookies signs in, and has its session renewed',
  async () => {
    const server = await ComposedServer.open(await embeddedPlace(), { JWT_ACCESS_EXPIRY: '2s' })
    try {
      const program = `
      import { ApiError, createApi, fetchWithCookies } from 'touchline-client'
      const api = createApi({ baseUrl: '${server.url}', fetch: fetchWithCookies() })
      const { user } = await api.signInByName('Cookie Keeper')
      console.log((await api.wallet()).balance, (await api.me()).userId === user.userId)
      process.stdin.once('data', async () => {
        console.log((await api.wallet()).balance)
        await api.signOut()
        console.log(await api.wallet().catch((error) => error instanceof ApiError && error.status))
        process.exit()
      })`
      writeFileSync(join(home, 'cookies.mjs'), program)
      const child = spawn(process.execPath, [join(home, 'cookies.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] })
      let said = ''
      child.stdout.on('data', (data) => (said += String(data)))
      await expect.poll(() => said, { timeout: 30_000 }).toBe('10000 true\n')
      server.jump(3)
      child.stdin.end('on\n')
      await expect.poll(() => said, { timeout: 30_000 }).toBe('10000 true\n10000\n401\n')
    } finally {
      await server.close()
    }
  },
  BUSY_MACHINE_MS,
)
