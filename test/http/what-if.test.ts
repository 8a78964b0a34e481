import { describe, expect, it } from 'vitest'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { RecordingLibrary } from '../../src/replays/library.ts'
import { WhatIf, type WhatIfQuestion } from '../../src/features/what-if/what-if.ts'
import { HttpServer } from '../../src/http-server.ts'
import { shortFiles } from '../support/short-recordings.ts'
import { alice, openHttpRig, SESSION } from './http-rig.ts'

const PATH = '/api/admin/settings/what-if'
const now = { rules: DEFAULT_RULES, model: DEFAULT_MODEL }
const question = (over: Partial<WhatIfQuestion> = {}): WhatIfQuestion => ({
  recordings: ['slow-burner'],
  was: now,
  would: now,
  seed: 0,
  ...over,
})
const patient = new AbortController().signal
const library = new RecordingLibrary({
  bundled: await shortFiles(),
  ended: { find: async () => null, lines: async function* () {} },
})

describe('settings tried on a recording', { timeout: 120_000 }, () => {
  it('change nothing if they are those in force, down to the micro, and leave the event loop free', async () => {
    const [own, all] = [process.threadCpuUsage(), process.cpuUsage()]
    const outcome = await new WhatIf({ library, withinMs: 100_000 }).ask(question(), patient)
    const took = ({ user, system }: NodeJS.CpuUsage): number => user + system
    expect(took(process.threadCpuUsage(own)) / took(process.cpuUsage(all))).toBeLessThan(0.07)
    if (outcome.kind !== 'played') throw new Error(outcome.kind)
    const [match] = outcome.matches
    expect(match?.moved).toEqual([])
    expect(match?.movedCount).toBe(0)
    expect(match?.would).toEqual(match?.was)
    expect(match?.was.opened).toBeGreaterThan(100)
    expect(match?.was.levels).toBeGreaterThan(0)
  })

  it('move prices, washouts and the result of the house, whatever brake is on', async () => {
    const { base } = DEFAULT_MODEL
    const model = { ...DEFAULT_MODEL, base: { ...base, goal: base.goal * 2 }, scale: DEFAULT_MODEL.scale * 2 }
    const rules = { ...DEFAULT_RULES, modes: { ...DEFAULT_RULES.modes, platform: 'halted' as const } }
    const asked = question({ was: { ...now, rules }, would: { rules, model } })
    const outcome = await new WhatIf({ library, withinMs: 100_000 }).ask(asked, patient)
    if (outcome.kind !== 'played') throw new Error(outcome.kind)
    const [match] = outcome.matches
    expect(match?.recording).toBe('slow-burner')
    expect(match?.was.opened).toBeGreaterThan(100)
    expect(match?.would.washouts).toBeGreaterThan(match?.was.washouts ?? 0)
    expect(match?.would.house).not.toBe(match?.was.house)
    const sizes = match?.moved.map(({ farthestPpm }) => farthestPpm) ?? []
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a))
    expect(sizes[0]).toBeGreaterThan(20_000)
    expect(sizes.length).toBe(20)
    expect(match?.movedCount).toBeGreaterThan(20)
  })

  it('are answered one at a time, and given up when nobody waits or the time is over', async () => {
    const whatIf = new WhatIf({ library, withinMs: 100_000 })
    const leaving = new AbortController()
    const first = whatIf.ask(question(), leaving.signal)
    expect(await whatIf.ask(question(), patient)).toEqual({ kind: 'busy' })
    leaving.abort()
    expect(await first).toEqual({ kind: 'stopped' })
    expect(await whatIf.ask(question(), leaving.signal)).toEqual({ kind: 'stopped' })
    // The place is free again.
    const unknown = question({ recordings: ['slow-burner', 'nothing'] })
    expect(await whatIf.ask(unknown, patient)).toEqual({ kind: 'unknown_recording', name: 'nothing' })
    expect(await new WhatIf({ library, withinMs: 1 }).ask(question(), patient)).toEqual({ kind: 'stopped' })
  })
})

describe(`POST ${PATH}`, () => {
  const ask = async (json: unknown) => {
    const { send } = await openHttpRig({ role: 'admin' })
    return send('POST', PATH, json)
  }
  const draft = { 'trading.hold_secs': 60 }

  it('shows what was beside what would have been', async () => {
    const response = await ask({ settings: draft, recordings: ['goal-feast'] })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      matches: [
        {
          recording: 'goal-feast',
          was: { positions: 412, washouts: 17, levels: 64, voided: 5, house: 318.25 },
          would: { positions: 412, washouts: 21, levels: 64, voided: 5, house: -4 },
          movedCount: 1,
          moved: [{ name: 'A. Striker', was: 200, would: 210, farthestPct: 5.1234 }],
        },
      ],
    })
  })

  it.each([
    ['an unknown setting', { settings: { 'trading.luck': 1 }, recordings: ['goal-feast'] }],
    ['an invalid value', { settings: { 'trading.hold_secs': -1 }, recordings: ['goal-feast'] }],
    ['an unknown recording', { settings: draft, recordings: ['nothing'] }],
    ['no recording', { settings: draft, recordings: [] }],
    ['too many recordings', { settings: draft, recordings: ['a', 'b', 'c', 'd'] }],
  ])('refuses %s', async (_, body) => {
    const response = await ask(body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'VALIDATION_FAILED' })
  })

  it.each(['busy', 'stopped'])('asks to try again later when it is %s', async (recording) => {
    const response = await ask({ settings: draft, recordings: [recording] })
    expect(response.status).toBe(503)
    expect(response.headers.get('Retry-After')).toBe('10')
  })

  it('is given up when its client leaves', async () => {
    const left = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const { app, tokens } = await openHttpRig({
      role: 'admin',
      ports: {
        whatIf: {
          ask: async (_, signal) => {
            signal.addEventListener('abort', () => left.resolve())
            asked.resolve()
            await left.promise
            return { kind: 'stopped' }
          },
        },
      },
    })
    const server = new HttpServer({ isBehindProxy: false })
    await server.listen(app, { port: 0, host: '127.0.0.1' })
    const access = await tokens.issueAccess({ ...alice, role: 'admin' }, SESSION)
    const leaving = new AbortController()
    const answer = fetch(`http://127.0.0.1:${server.port}${PATH}`, {
      method: 'POST',
      headers: { cookie: `game_access=${access}`, 'content-type': 'application/json' },
      body: JSON.stringify({ settings: draft, recordings: ['goal-feast'] }),
      signal: leaving.signal,
    })
    await asked.promise
    leaving.abort()
    await expect(answer).rejects.toThrow()
    await left.promise
    await server.close(0)
  })
})
