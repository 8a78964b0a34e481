import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { price } from '../../actors/kernel/micros.ts'
import { bareEnvironment } from '../../ops/rehearse/rig/bare-environment.ts'
import { folderPlace } from '../../ops/rehearse/rig/data-place.ts'
import { Program } from '../../ops/rehearse/rig/program.ts'
import { auditBooks } from '../../ops/rehearse/load/books.ts'
import { Rest } from '../../ops/rehearse/load/rest.ts'
import { Histogram } from '../../ops/rehearse/load/histogram.ts'
import { limitOf, nextTry } from '../../ops/rehearse/load/limit.ts'
import { PriceWatch } from '../../ops/rehearse/rig/price-watch.ts'
import { describe as describeRun, type Outcome } from '../../ops/rehearse/load/report.ts'
import { LoadTally } from '../../ops/rehearse/load/tally.ts'
import { areUpToDate } from '../../ops/rehearse/rig/watcher.ts'
import { decodePriceFrame, FLAG, type PriceFrame } from '../../rooms/feed/price-frame.ts'
import { personalKey } from '../support/personal-key.ts'
import { priceOf } from '../rooms/realtime-rig.ts'

describe('a histogram', () => {
  it('has percentiles that are within 1 % of the exact ones, and adds up', () => {
    const [all, odd, even] = [new Histogram(), new Histogram(), new Histogram()]
    const durations = Array.from({ length: 10_000 }, (_, n) => 0.05 * 1.001 ** n)
    for (const [n, ms] of durations.entries()) {
      all.record(ms)
      ;(n % 2 === 0 ? even : odd).record(ms)
    }
    for (const percent of [1, 50, 90, 99, 99.9, 100]) {
      const exact = present(durations[Math.ceil((durations.length * percent) / 100) - 1], 'duration')
      expect(Math.abs(all.percentile(percent) / exact - 1), `p${percent}`).toBeLessThan(0.013)
    }
    const sum = Histogram.from(JSON.parse(JSON.stringify(odd)))
    sum.merge(even.toJSON())
    expect([sum.total, sum.max, sum.percentile(99)]).toEqual([all.total, all.max, all.percentile(99)])
    expect(new Histogram().percentile(99)).toBe(0)
  })
})

describe('the prices of a socket', () => {
  const frame = (seq: number, over: Partial<PriceFrame> = {}): PriceFrame => ({
    ...present(decodePriceFrame(priceOf(1, seq).frame), 'frame'),
    previous: price(200_000_000 + seq - 1),
    ...over,
  })
  const gapsIn = (...frames: readonly PriceFrame[]): number => {
    const watch = new PriceWatch()
    for (const one of frames) watch.see(one)
    return watch.gaps
  }

  it('have a gap only when a price was left out, repeated or out of order', () => {
    expect(gapsIn(frame(1), frame(2), frame(3))).toBe(0)
    expect(gapsIn(frame(1), frame(3))).toBe(1)
    expect(gapsIn(frame(1), frame(2), frame(2))).toBe(1)
    expect(gapsIn(frame(2), frame(1))).toBe(1)
    expect(gapsIn(frame(1), frame(3, { flags: FLAG.conflated }))).toBe(0)
    expect(gapsIn(frame(3), frame(3, { flags: FLAG.snapshot }), frame(4))).toBe(0)
    expect(gapsIn(frame(1), frame(2, { flags: FLAG.replay }), frame(3))).toBe(0)
    expect(gapsIn(frame(8), frame(1, { fixtureId: fixtureId(8) }))).toBe(0)
    const watch = new PriceWatch()
    for (const seq of [1, 2, 3]) watch.see(frame(seq))
    expect(watch.since(frame(1).fixtureId)).toEqual({ epoch: 1, seq: 3 })
  })

  it('have none when another process repeats the price with an older number, but one when it was another price', () => {
    const older = { flags: FLAG.snapshot, seq: 1 }
    expect(gapsIn(frame(3), frame(3, older), frame(4))).toBe(0)
    expect(gapsIn(frame(3), frame(3, older), frame(2))).toBe(1)
    expect(gapsIn(frame(3), frame(1, older))).toBe(1)
  })

  it('a new epoch begins with a snapshot, and an older one ends', () => {
    const [snapshot, conflated] = [{ flags: FLAG.snapshot }, { flags: FLAG.conflated }]
    expect(gapsIn(frame(8), frame(0, { epoch: 2, ...snapshot }), frame(1, { epoch: 2 }))).toBe(0)
    expect(gapsIn(frame(8), frame(2, { epoch: 2, ...conflated }))).toBe(0)
    expect(gapsIn(frame(8), frame(1, { epoch: 2 }))).toBe(1)
    expect(gapsIn(frame(1, { epoch: 2 }), frame(8, { epoch: 1, ...snapshot }))).toBe(1)
  })
})

function outcome(over: Partial<Outcome> = {}): Outcome {
  const tally = new LoadTally()
  tally.durations.tick.record(12)
  Object.assign(tally.counts, { prices: 200, opened: 6 })
  const second = { connected: 2, prices: 100, trades: 3, errors: 0, tickP99: 12, tradeP99: 30 }
  return {
    isOwn: true,
    plan: { url: 'http://here', users: 1, sockets: 2, seconds: 2, tradesPerSecond: 1, follow: 10, dropEverySecs: 0 },
    measured: { tally, rooms: new LoadTally(), seconds: [second, second], connectingSecs: 0.1 },
    books: { balanced: true, whole: 1, violations: [] },
    steps: [],
    ...over,
  }
}

describe('the report', () => {
  it('says what is wrong', () => {
    expect(describeRun(outcome())).toContain('all is well')
    const bad = outcome({ books: { balanced: false, whole: 0, violations: ['1 > 2'] } })
    bad.measured.tally.counts.gaps = 3
    bad.measured.tally.fail('connect: refused')
    expect(bad.measured.tally.faults).toBe(4)
    for (const said of ['3 gaps in price sequences', '1 errors', 'does not balance', '1 accounts do not add up']) {
      expect(describeRun(bad)).toContain(said)
    }
  })

  it('is not well when nobody got a price or traded, unless that was not asked for', () => {
    const silent = outcome()
    Object.assign(silent.measured.tally.counts, { prices: 0, opened: 0 })
    expect(describeRun(silent)).toContain('NOT WELL: no socket got a price; nothing was traded')
    for (const none of [{ sockets: 0 }, { follow: 0 }]) {
      const plan = { ...silent.plan, ...none, tradesPerSecond: 0 }
      expect(describeRun({ ...silent, plan })).toContain('all is well')
    }
    silent.measured.rooms.counts.prices = 1
    expect(describeRun(silent)).toContain('NOT WELL: nothing was traded')
  })

  it('of a rehearsal is broken when one socket of several never sees a true price', async () => {
    const instruments = [{ id: 'a', currentPrice: 200 }]
    const looks = [() => true, ({ currentPrice }: { currentPrice: number }) => currentPrice === 201]
    const read = async () => ({ instruments })
    await expect(areUpToDate(read, ['a', 'gone'], looks, 0)).rejects.toThrow('1 sockets do not get')
    instruments.push({ id: 'a', currentPrice: 201 })
    await areUpToDate(read, ['a', 'gone'], looks, 0)
  })

  it('needs an audit of the ledger on a server of its own', () => {
    const books = { balanced: null, whole: 1, violations: [] }
    expect(describeRun(outcome({ books }))).toContain('NOT WELL: the ledger was not audited')
    expect(describeRun(outcome({ books, isOwn: false }))).toContain('all is well')
  })

  it('counts match rooms apart, and misses them', () => {
    const plan = { ...outcome().plan, rooms: 0.5 }
    const seated = outcome({ plan })
    expect(describeRun(seated)).toContain('no match room was joined')
    const { rooms } = seated.measured
    Object.assign(rooms.counts, { connections: 3, prices: 40, states: 9 })
    expect(describeRun(seated)).toContain('all is well')
    expect(describeRun(seated)).toMatch(/match rooms +3 joined, 0 returned; 40 prices, 9 states/)
    expect(describeRun(outcome())).not.toContain('match rooms')
    rooms.miss('gaps', 'a move')
    rooms.fail('room: left 4000')
    expect(describeRun(seated)).toContain(
      'NOT WELL: 1 gaps in price sequences in match rooms; a move; 1 errors in match',
    )
  })

  it('names the limit between success and failure, from any start', () => {
    const step = (sockets: number, isFine: boolean) => ({ sockets, isFine, p99: 50, failures: 0, prices: 1_000 })
    /** The steps of a search on a server that bears this many. */
    const search = (from: number, bears: number) => {
      const steps = [step(from, from <= bears)]
      for (let next = nextTry(steps); next !== null; next = nextTry(steps)) steps.push(step(next, next <= bears))
      return { tried: steps.map(({ sockets }) => sockets), limit: limitOf(steps), steps }
    }
    expect(search(100, 200)).toMatchObject({ tried: [100, 150, 225], limit: '150 to 225' })
    expect(search(1_000, 400)).toMatchObject({ tried: [1_000, 500, 250, 375], limit: '375 to 500' })
    expect(search(300, 0)).toMatchObject({ tried: [300, 150], limit: 'below 150' })
    expect(search(30_000, Infinity)).toMatchObject({ tried: [30_000], limit: 'above 30,000' })
    expect(limitOf([])).toBeNull()
    const { steps } = search(100, 200)
    expect(describeRun(outcome({ steps }))).toContain('150 to 225')
  })
})

/** Runs the tester, or another tool, as an operator does. */
function run(
  args: readonly string[],
  tool = 'load/main.ts',
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly out: string }> {
  const main = join(import.meta.dirname, '../../ops/rehearse', tool)
  const child = spawn(process.execPath, [main, ...args], { env: { ...bareEnvironment(), ...env }, stdio: 'pipe' })
  let out = ''
  child.stdout.on('data', (data) => (out += String(data)))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out })))
}

describe('a run', () => {
  it('reports also where the books cannot be read', async () => {
    const server = createServer((_, response) => response.writeHead(429).end('{"error":"rate limit exceeded"}'))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    const rest = new Rest(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 2)
    onTestFinished(() => rest.close())
    const { violations, ...books } = await auditBooks(rest, ['one', 'two'], 'admin')
    expect(books).toEqual({ balanced: null, whole: 0 })
    expect(violations).toEqual([1, 2].map(() => expect.stringContaining('was answered 429')))
  })

  it('signs in, trades, disconnects and reconnects without a gap, and balances the books', async () => {
    const small = ['--users', '5', '--sockets', '10', '--seconds', '5', '--trades', '10', '--drop-every', '3']
    const { code, out } = await run([...small, '--json'], 'load/main.ts', { TOUCHLINE_KEY: 'tl_of_another_server' })
    const { measured, books } = JSON.parse(out)
    const { counts, errors } = measured.tally
    expect({ code, errors, gaps: [counts.gaps, counts.accountGaps, counts.damaged] }).toEqual({
      code: 0,
      errors: {},
      gaps: [0, 0, 0],
    })
    expect(books).toEqual({ balanced: true, whole: 5, violations: [] })
    for (const count of ['opened', 'prices', 'accountEvents', 'returns'])
      expect(counts[count], count).toBeGreaterThan(0)
    expect(counts.connections).toBe(10)
  })

  it('joins match rooms by the SDK, returns to its seats, trades at their prices, and sees no gap', async () => {
    const small = ['--users', '6', '--sockets', '12', '--seconds', '6', '--trades', '10', '--drop-every', '3']
    const { code, out } = await run([...small, '--rooms', '0.5', '--json'])
    const { tally, rooms } = JSON.parse(out).measured
    expect({ code, errors: [tally.errors, rooms.errors] }).toEqual({ code: 0, errors: [{}, {}] })
    expect([tally.counts.connections, rooms.counts.connections]).toEqual([6, 6])
    for (const count of ['prices', 'states', 'accountEvents', 'returns']) {
      expect(rooms.counts[count], count).toBeGreaterThan(0)
    }
    expect(rooms.durations.tick.max).toBeGreaterThan(0)
  })

  it('loads a remote server and audits its ledger, also with personal keys alone, as in production', async () => {
    const place = await folderPlace()
    const admins = { ADMIN_EMAILS: 'load_auditor@synthetic.invalid,boss@synthetic.invalid' }
    const program = new Program({ ...place.env, RATE_LIMIT_PER_MIN: '0', DEMO_SPEED: '10', ...admins })
    const whole = { balanced: true, whole: 2, violations: [] }
    onTestFinished(async () => {
      await program.stop()
      await place.remove()
    })
    const { url } = await program.listening
    const signedIn = await run(['--users', '2', '--sockets', '2', '--seconds', '2', '--json', '--url', url])
    expect([signedIn.code, JSON.parse(signedIn.out).books]).toEqual([0, whole])
    const file = join(place.env['DATA_DIR'] ?? '', 'load.keys')
    const keys = [await personalKey(url, 'Load One', ['trade']), await personalKey(url, 'Load Two', ['trade'])]
    writeFileSync(file, `${keys.join('\n')}\n`)
    const small = ['--users', '2', '--sockets', '2', '--seconds', '3', '--trades', '10', '--json']
    const env = { TOUCHLINE_KEY: await personalKey(url, 'Boss', ['admin:read']) }
    const { code, out } = await run([...small, '--url', url, '--keys', file], 'load/main.ts', env)
    const { books, measured } = JSON.parse(out)
    expect([code, books]).toEqual([0, whole])
    expect(measured.tally.counts.opened).toBeGreaterThan(0)
    expect((await run(['--users', '3', '--url', url, '--keys', file])).code).toBe(1)
  })

  it('refuses a server that does not answer, or whose rate limit is too low for the load', async () => {
    const place = await folderPlace()
    const program = new Program({ ...place.env, DEMO_REPLAY: 'none' })
    onTestFinished(async () => {
      await program.stop()
      await place.remove()
    })
    const { url } = await program.listening
    expect((await run(['--url', url])).code).toBe(2)
    for (const tool of ['load/main.ts', 'conformance/main.ts'])
      for (const nowhere of ['http://127.0.0.1:1', 'nowhere'])
        expect((await run(['--url', nowhere], tool)).code, `${tool} ${nowhere}`).toBe(2)
  })

  it('refuses invalid options', async () => {
    for (const args of [
      ['--users', '0'],
      ['--sockets', 'many'],
      ['--seconds', '1e9'],
      ['--follow', '1.5'],
      ['--rooms', 'half'],
      ['--rooms', '1.1'],
      ['--rooms', ''],
      ['--rooms', '0.5', '--sockets', '0'],
    ]) {
      expect((await run(args)).code, args.join(' ')).toBe(2)
    }
  })

  it.each([
    ['load/hostile.ts', '--attackers', 'many'],
    ['load/hostile.ts', '--only', 'kindness'],
    ['rolling/main.ts', '--rounds', '0'],
    ['fuzz/main.ts', '--requests', '1.5'],
  ])('%s refuses %s %s, which would find nothing wrong in doing nothing', async (tool, ...args) => {
    expect((await run(args, tool)).code).toBe(2)
  })
})
