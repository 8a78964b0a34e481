/** The examples, run unchanged against the real program. */
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Relay } from '../../ops/rehearse/chaos/relay.ts'
import { freePort } from '../../ops/rehearse/rig/ports.ts'
import { PATIENCE, Program } from '../support/process.ts'
import { personalKey } from '../support/personal-key.ts'
import { HttpClient } from '../support/http-client.ts'

const EXAMPLES = join(import.meta.dirname, '../../ops/examples')
const BUSY_MACHINE_MS = 60_000

describe('an example', () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchline-examples-'))
  let program: Program
  let relay: Relay
  let visitor: HttpClient
  let url = ''

  beforeAll(async () => {
    const wsPort = await freePort()
    relay = await Relay.to(`ws://127.0.0.1:${wsPort}`)
    program = new Program({
      DATA_DIR: folder,
      DEMO_SPEED: '20',
      DEMO_TRADERS: '20',
      WS_PORT: String(wsPort),
      PUBLIC_WS_URL: relay.url.replace(/\/$/, ''),
    })
    url = (await program.listening).url
    visitor = await HttpClient.of(url, 'Visitor')
    await vi.waitUntil(async () => (await visitor.instruments()).some((i) => i.tradingStatus === 'OPEN'), PATIENCE)
  })
  afterAll(async () => {
    await program.stop()
    await relay.close()
    rmSync(folder, { recursive: true })
  })

  const run = (name: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, [join(EXAMPLES, name), url, ...args], { timeout: BUSY_MACHINE_MS })

  it('with a plain socket follows a match', { timeout: BUSY_MACHINE_MS }, async () => {
    const lines = (await run('feed.mjs', '60')).stdout.trim().split('\n')
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ type: 'subscribed', id: 1, rejected: [] })
    const prices = lines.filter((line) => !line.startsWith('{'))
    expect(prices).toHaveLength(60)
    // First the current price of every player, then moves.
    expect(prices[0]).toMatch(/^\S.* \d+\.\d\d SNAPSHOT/)
    expect(prices.at(-1)).not.toContain('SNAPSHOT')
  })

  it('with a plain socket resumes after a disconnect without a gap', { timeout: BUSY_MACHINE_MS }, async () => {
    const child = spawn(process.execPath, [join(EXAMPLES, 'feed.mjs'), url], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', (data) => (said += String(data)))
    const moves = async () => JSON.stringify((await visitor.instruments()).map((i) => i.last_published_price))
    onTestFinished(() => void child.kill())
    // Before the first move there is nothing to resume from. The client comes back after a random time, in which there
    // may be more moves than are resent: then it has the current prices, and loses its connection again.
    for (let connections = 1; !said.includes(' REPLAY'); connections++) {
      const isMoving = (): boolean => {
        const parts = said.split('"subscribed"')
        return parts.length > connections && / \d+\.\d\d\n/.test(parts.at(-1) ?? '')
      }
      await vi.waitUntil(isMoving, PATIENCE)
      const before = await moves()
      relay.cut()
      await vi.waitUntil(async () => (await moves()) !== before, PATIENCE)
      relay.mend()
    }
  })

  it('says at once that a Node without a WebSocket is too old', async () => {
    const args = ['--no-experimental-websocket', join(EXAMPLES, 'feed.mjs'), url]
    const refused = promisify(execFile)(process.execPath, args, { timeout: BUSY_MACHINE_MS })
    const stderr = expect.stringContaining('this needs Node 22 or newer')
    await expect(refused).rejects.toMatchObject({ code: 1, stderr })
  })

  it('founds a league that another one joins', { timeout: BUSY_MACHINE_MS }, async () => {
    const play = async (name: string, who: string) => {
      const TOUCHLINE_KEY = await personalKey(url, who, ['trade'])
      const env = { ...process.env, TOUCHLINE_KEY }
      // The player may be suspended between the look and the order.
      for (let left = 5; ; left--) {
        try {
          const { stdout } = await promisify(execFile)(process.execPath, [join(EXAMPLES, 'league.mjs'), url, name], {
            env,
          })
          return stdout
        } catch (error) {
          if (left === 0) throw error
        }
      }
    }
    const founded = await play('Harbour Friends', 'League Founder')
    const [, code = ''] = /join with ([0-9a-f]{12}) or at http/.exec(founded) ?? []
    expect(founded).toMatch(/^long \S.* at \d+(\.\d+)?; \d+(\.\d+)? left$/m)
    const joined = await play(code, 'League Guest')
    expect(joined.match(/^1 \w+ \d+/gm)).not.toBeNull()
    expect(joined.trim().split('\n').slice(2)).toHaveLength(2)
  })

  it('with a key trades as a bot', { timeout: BUSY_MACHINE_MS }, async () => {
    const TOUCHLINE_KEY = await personalKey(url, 'Example Bot', ['trade'])
    const env = { ...process.env, TOUCHLINE_KEY }
    const { stdout } = await promisify(execFile)(process.execPath, [join(EXAMPLES, 'bot.mjs'), url, '1'], { env })
    expect(stdout).toMatch(/^long .+ at \d+(\.\d+)?\n$/)
    const headers = { authorization: `Bearer ${TOUCHLINE_KEY}` }
    expect(await (await fetch(`${url}/api/positions`, { headers })).json()).toMatchObject({ positions: [{}] })
    expect(await (await fetch(`${url}/api/leaderboard/me`, { headers })).json()).toEqual({ ranked: false })
  })

  it(
    'of a strategy trades here and over a recording from the same file',
    { timeout: 4 * BUSY_MACHINE_MS },
    async () => {
      const file = join(folder, 'eager.mjs')
      await writeFile(
        file,
        `export default () => ({ instruments, positions }) => {
        const one = instruments.find(({ tradingStatus }) => tradingStatus === 'OPEN')
        if (positions.length > 0) return [{ kind: 'change', positionId: positions[0].id, takeProfit: 1e6 }]
        return one ? [{ kind: 'open', instrumentId: one.id, direction: 'long', lotSize: 0.25 }] : []
      }`,
      )
      const TOUCHLINE_KEY = await personalKey(url, 'Example Strategist', ['trade'])
      const env = { ...process.env, TOUCHLINE_KEY }
      const ops = (...args: string[]) =>
        promisify(execFile)(process.execPath, [join(EXAMPLES, '../main.ts'), ...args], { env })
      const { stdout } = await ops('trade', file, '--url', url, '--orders', '2')
      expect(stdout).toMatch(/^long 0.25 .+ at \d+(\.\d+)?: done\n/)
      expect(stdout).toMatch(/^change \S+: done$/m)
      const headers = { authorization: `Bearer ${TOUCHLINE_KEY}` }
      const held = await (await fetch(`${url}/api/positions`, { headers })).json()
      expect(held).toMatchObject({ positions: [{ lotSize: 0.25, direction: 'long', takeProfit: 1e6 }] })
      const recording = join(EXAMPLES, '../replays/slow-burner.jsonl.br')
      const played = await ops('backtest', file, '--recordings', recording, '--traders', '3')
      expect(played.stdout).toContain('3 positions, closed by: full_time 3; refused: none')
      const wrong = promisify(execFile)(process.execPath, [join(EXAMPLES, '../main.ts'), 'trade', file, '--url', url], {
        env: { ...env, TOUCHLINE_KEY: `${TOUCHLINE_KEY.slice(0, -1)}_` },
      })
      await expect(wrong).rejects.toMatchObject({ code: 1 })
    },
  )

  it('with a key follows a match without signing in', { timeout: BUSY_MACHINE_MS }, async () => {
    const env = { ...process.env, TOUCHLINE_KEY: await personalKey(url, 'Example Reader', ['read']) }
    const { stdout } = await promisify(execFile)(process.execPath, [join(EXAMPLES, 'feed.mjs'), url, '5'], { env })
    expect(stdout).toContain('"subscribed"')
  })

  it.each(['feed.mjs', 'match-room.mjs', 'league.mjs', 'bot.mjs'])('%s says that its key is refused', async (file) => {
    const env = { ...process.env, TOUCHLINE_KEY: 'tl_none' }
    const refused = promisify(execFile)(process.execPath, [join(EXAMPLES, file), url], { env })
    await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('unauthorized') })
  })

  it('with the Colyseus SDK joins a match room', { timeout: BUSY_MACHINE_MS }, async () => {
    const lines = (await run('match-room.mjs', '200')).stdout.trim().split('\n')
    expect(lines).toContainEqual(expect.stringMatching(/ vs .*, live, minute \d+$/))
    expect(lines).toContainEqual(expect.stringMatching(/^following \d\d, rejected 0$/))
    expect(lines).toContainEqual('account at 0, 0 events')
    expect(lines.filter((line) => /^price \d+\.\d\d$/.test(line))).toHaveLength(200)
  })
})
