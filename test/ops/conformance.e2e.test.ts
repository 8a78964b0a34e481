/** The conformance suite: its checks can fail, are skipped with a reason, and are reported by `node:test`. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Deployment, startDeployment } from '../../ops/rehearse/conformance/deployment.ts'
import { runChecks } from '../../ops/rehearse/conformance/run.ts'
import { allChecks } from '../../ops/rehearse/conformance/sections.ts'
import { misquoted, quotes, sentences } from '../../ops/rehearse/conformance/specification.ts'
import { trustOf } from '../../ops/rehearse/conformance/trust.ts'
import { unchecked } from '../../ops/rehearse/conformance/unchecked.ts'
import { onlyWaits, WAITS } from '../../ops/rehearse/conformance/waits.ts'

/** Enough to start a server and a process that checks it. */
const SLOW = { timeout: 120_000 }
const VERDICT = join(import.meta.dirname, '../../.ci/verdict.mjs')

describe('a deployment with other settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchline-conformance-test-'))
  const trustFile = join(folder, 'trust.env')
  const junitFile = join(folder, 'junit.xml')
  let deployment: Deployment
  beforeAll(async () => {
    await (await trustOf(trustFile, 0)).stop()
    const trusted = Object.fromEntries(
      Object.entries(parseEnv(readFileSync(trustFile, 'utf8'))).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      ),
    )
    const others = {
      JWT_WS_EXPIRY: '30s',
      RATE_LIMIT_PER_MIN: '150',
      CORS_ORIGINS: 'https://other.example',
      ADMIN_EMAILS: '',
    }
    deployment = await startDeployment('embedded', { ...trusted, ...others })
  }, SLOW.timeout)
  afterAll(async () => {
    await deployment.stop()
    rmSync(folder, { recursive: true })
  })

  const verdictsOn = async (ids: readonly string[], options: readonly string[], junit?: string) => {
    const argv = ['--url', deployment.urls.join(','), '--ws', deployment.wsUrls.join(','), '--only', ids.join(',')]
    const { verdicts, failures } = await runChecks([...argv, ...options], { junit })
    expect(failures).toEqual([])
    return Object.fromEntries(
      verdicts.map(({ id, outcome, reason }) => [id, reason === '' ? outcome : `${outcome}: ${reason}`]),
    )
  }

  it('fails the checks about those settings, and no others', SLOW, async () => {
    const trust = ['--trust', trustFile]
    expect(
      await verdictsOn(['1.1', '2.1.1', '2.1.3', '3.4.9', '4.6.1', '5.9.1', '10.6.7', '8.10'], trust, junitFile),
    ).toEqual({
      '1.1': 'passed',
      '2.1.1': 'passed',
      '2.1.3': expect.stringMatching(/^failed: .*\n*30 !== 60/s),
      '3.4.9': 'passed',
      '4.6.1': expect.stringMatching(/^failed: .*\n*403 !== 204/s),
      '5.9.1': expect.stringMatching(/^failed: .*is no admin/s),
      '10.6.7': expect.stringMatching(/^failed: .*149/s),
      '8.10': 'passed',
    })
    const counted = spawnSync(process.execPath, [VERDICT, 'verdict', '1', '0', 'none', 'none', junitFile], {
      encoding: 'utf8',
    })
    expect(counted.stdout.match(/^failed: [\d.]+/gm)).toEqual([
      'failed: 2.1.3',
      'failed: 4.6.1',
      'failed: 5.9.1',
      'failed: 10.6.7',
    ])
    expect(counted.stdout).toMatch(/\n4 passed, 4 failed\n$/)
    expect(await verdictsOn(['1.5', '5.4.2'], [...trust, '--production'])).toEqual({
      '1.5': expect.stringMatching(/^failed: .*200/),
      '5.4.2': expect.stringMatching(/^failed: .*SameSite=Lax/),
    })
  })

  it('skips, with the reason, what cannot be checked on an unknown deployment', SLOW, async () => {
    expect(await verdictsOn(['2.1.6', '2.1.13', '2.3.2', '4.1.9', '4.3.1', '6.4.3'], [])).toEqual({
      '2.1.6': expect.stringMatching(/^skipped: needs a deployment that trusts the suite/),
      '2.1.13': expect.stringMatching(/^skipped: takes 302 seconds/),
      '2.3.2': expect.stringMatching(/^skipped: needs an admin/),
      '4.1.9': 'passed',
      '4.3.1': 'passed',
      '6.4.3': expect.stringMatching(/^skipped: its stores cannot be reached/),
    })
  })
})

describe('the checks', () => {
  it('cover every section of the specification that can be checked, and what is beyond it, numbered in order', () => {
    const sections = new Set(allChecks.map(({ section }) => section.split('.')[0]))
    expect([...sections]).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '10'])
    for (const [section, some] of Map.groupBy(allChecks, (one) => one.section)) {
      const numbers = some.map(({ id }) => Number(id.slice(section.length + 1)))
      expect(numbers, section).toEqual(numbers.map((_, n) => n + 1))
    }
    for (const { id, claim } of allChecks) expect(claim, id).toMatch(/[.)]$/)
  })

  it('quote the specification word for word, and those beyond it quote nothing', () => {
    for (const { id, section, quote } of allChecks) {
      expect(misquoted(quote), id).toEqual([])
      expect(quote === '', id).toBe(section.startsWith('10'))
    }
  })

  it('quote every sentence of the specification, or say why it is not checked', () => {
    const words = [...allChecks.map(({ quote }) => quote), ...unchecked.map((one) => one.words)]
    expect(sentences.filter((sentence) => !words.some((quote) => quotes(quote, sentence)))).toEqual([])
    expect(unchecked.flatMap((one) => misquoted(one.words))).toEqual([])
  })

  it('write no setting but two waits', () => {
    const folder = join(import.meta.dirname, '../../ops/rehearse/conformance')
    const texts = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'))
    const written = texts.flatMap((text) => [...text.matchAll(/\/api\/admin\/settings\/([\w./-]+|\$\{\w+\})/g)])
    const reads = ['scoring/multiplier-keys']
    const refused = ['trading.never_heard_of']
    // `set` of a context takes its keys from WAITS.
    const allowed = [...WAITS, ...reads, ...refused, '${key}']
    expect(new Set(written.map(([, key]) => key).filter((key) => !allowed.includes(key ?? '')))).toEqual(new Set())
    expect(WAITS).toEqual(['trading.hold_secs', 'settlement.confirm_secs'])
    for (const { id, waits = {} } of allChecks) for (const key of Object.keys(waits)) expect(WAITS, id).toContain(key)
  })

  it('refuse a setting that is no wait', () => {
    expect(() => onlyWaits('PUT', '/api/admin/settings/trading.hold_secs', 200)).not.toThrow()
    expect(() => onlyWaits('PUT', '/api/admin/settings/trading.lot_max', 200)).toThrow(/trading.lot_max/)
  })
})
