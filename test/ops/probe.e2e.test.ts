/** The probe, against the real program and against what is left of it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Probe, type Step, type StepEnd, type StepResult } from '../../ops/tools/probe/rounds.ts'
import { HttpClient } from '../support/http-client.ts'
import { personalKey } from '../support/personal-key.ts'
import { PATIENCE, Program } from '../support/process.ts'

const BUSY_MACHINE_MS = 90_000
const ADMIN = { ADMIN_EMAILS: 'ann@synthetic.invalid' }
/** A key may ask 200 times a minute, and a round asks nine times. */
const UNHURRIED = { ...PATIENCE, interval: 3_000 }

describe('npm run ops -- probe', () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchline-probe-'))
  let program: Program
  let url = ''
  let probe: Probe

  beforeAll(async () => {
    program = new Program({ DATA_DIR: folder, DEMO_SPEED: '30', DEMO_TRADERS: '5', ...ADMIN })
    ;({ url } = await program.listening)
    const ann = await HttpClient.of(url, 'Ann')
    await ann.request('PUT', '/api/admin/settings/trading.hold_secs', { value: 0 })
    probe = new Probe({ url, key: await personalKey(url, 'Canary', ['trade']) })
  }, BUSY_MACHINE_MS)
  afterAll(async () => {
    await program.stop()
    rmSync(folder, { recursive: true })
  })

  const endsOf = (results: readonly StepResult[]): Record<string, StepEnd> =>
    Object.fromEntries(results.map(({ step, end }) => [step, end]))
  const until = async (step: Step): Promise<Record<string, StepEnd>> => {
    let ends: Record<string, StepEnd> = {}
    await vi.waitUntil(async () => (ends = endsOf(await probe.round()))[step] === 'ok', UNHURRIED)
    return ends
  }

  it('opens a position, and closes it once its hold is over', { timeout: BUSY_MACHINE_MS }, async () => {
    expect(await until('open')).toMatchObject({ ready: 'ok', wallet: 'ok', feed: 'ok' })
    expect(await until('close')).toMatchObject({ ready: 'ok', wallet: 'ok', feed: 'ok' })
  })

  it('names each step that fails, and why', { timeout: BUSY_MACHINE_MS }, async () => {
    const stranger = new Probe({ url, key: 'tl_unknown' })
    const refused = await stranger.round()
    expect(endsOf(refused)).toEqual({ ready: 'ok', wallet: 'failed', feed: 'failed', open: 'failed', close: 'failed' })
    expect(refused[1]?.reason).toMatch(/GET \/api\/wallet: 401/)
    await program.kill()
    const gone = await probe.round()
    expect(new Set(gone.map(({ end }) => end))).toEqual(new Set(['failed']))
  })
})
