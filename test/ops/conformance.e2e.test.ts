/** The conformance suite itself: that its checks can fail, say when they cannot ask, and are told in one way. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Check } from '../../ops/rehearse/conformance/check.ts'
import { type Deployment, startDeployment } from '../../ops/rehearse/conformance/deployment.ts'
import { junit, markdown, table } from '../../ops/rehearse/conformance/report.ts'
import { runChecks, type Verdict } from '../../ops/rehearse/conformance/run.ts'
import { allChecks } from '../../ops/rehearse/conformance/sections.ts'
import type { Site } from '../../ops/rehearse/conformance/stage.ts'
import { startTrust, type Trust } from '../../ops/rehearse/conformance/trust.ts'

/** A house is started. */
const SLOW = { timeout: 90_000 }

describe('a deployment that is set otherwise', () => {
  let trust: Trust
  let deployment: Deployment
  beforeAll(async () => {
    trust = await startTrust(0)
    const otherwise = { JWT_WS_EXPIRY: '30s', RATE_LIMIT_PER_MIN: '150', CORS_ORIGINS: 'https://other.example' }
    deployment = await startDeployment('embedded', { ...trust.environment, ...otherwise })
  }, SLOW.timeout)
  afterAll(async () => {
    await deployment.stop()
    await trust.stop()
  })

  const verdictsOn = async (site: Site, ids: readonly string[]) => {
    const chosen = allChecks.filter(({ id }) => ids.includes(id))
    const verdicts = await runChecks(chosen, site, { slow: false, tell: () => undefined })
    return Object.fromEntries(
      verdicts.map(({ check, outcome, reason }) => [check.id, reason === '' ? outcome : `${outcome}: ${reason}`]),
    )
  }

  it('fails the checks about what is set, and no others', SLOW, async () => {
    const site = { ...deployment, trust }
    expect(await verdictsOn(site, ['1.1', '2.1.1', '2.1.3', '3.4.7', '4.6.1', '8.11', '8.12'])).toEqual({
      '1.1': 'passed',
      '2.1.1': 'passed',
      '2.1.3': expect.stringMatching(/^failed: .*\n*30 !== 60/s),
      '3.4.7': 'passed',
      '4.6.1': expect.stringMatching(/^failed: .*\n*403 !== 204/s),
      '8.11': expect.stringMatching(/^failed: .*149/s),
      '8.12': 'passed',
    })
    expect(await verdictsOn({ ...site, production: true }, ['1.5', '5.4.2'])).toEqual({
      '1.5': expect.stringMatching(/^failed: .*200/),
      '5.4.2': expect.stringMatching(/^failed: .*SameSite=Lax/),
    })
  })

  it(
    'is asked only what it can be asked when nothing is known of it; the rest is skipped with the reason',
    SLOW,
    async () => {
      const site = { ...deployment, trust: null }
      expect(await verdictsOn(site, ['2.1.6', '2.1.13', '2.3.2', '4.1.10', '4.3.1', '6.4.3'])).toEqual({
        '2.1.6': expect.stringMatching(/^skipped: needs a deployment that trusts the suite/),
        '2.1.13': expect.stringMatching(/^skipped: takes 302 seconds/),
        '2.3.2': expect.stringMatching(/^skipped: needs an admin/),
        '4.1.10': 'passed',
        '4.3.1': 'passed',
        '6.4.3': expect.stringMatching(/^skipped: legacy trades/),
      })
    },
  )
})

describe('the checks', () => {
  it('cover every section of the specification that can be asked, numbered in order', () => {
    const sections = new Set(allChecks.map(({ section }) => section.split('.')[0]))
    expect([...sections]).toEqual(['1', '2', '3', '4', '5', '6', '7', '8'])
    for (const [section, some] of Map.groupBy(allChecks, (one) => one.section)) {
      const numbers = some.map(({ id }) => Number(id.slice(section.length + 1)))
      expect(numbers, section).toEqual(numbers.map((_, n) => n + 1))
    }
    for (const { id, sentence } of allChecks) expect(sentence, id).toMatch(/[.)]$/)
  })
})

describe('the report', () => {
  const check = (id: string, sentence: string): Check => ({ id, section: '4.3', sentence, run: async () => undefined })
  const verdicts: readonly Verdict[] = [
    { check: check('4.3.1', 'It is <so>.'), outcome: 'passed', reason: '', ms: 12 },
    { check: check('4.3.2', 'It is | not "so".'), outcome: 'failed', reason: '409 & not\n201', ms: 340 },
    { check: check('4.3.3', 'Nobody knows.'), outcome: 'skipped', reason: 'needs an admin', ms: 0 },
  ]
  const run = { deployment: 'one process', verdicts }

  it('is a table with id, section, verdict, time and sentence, and the reason below', () => {
    const lines = table(run).split('\n')
    expect(lines).toContain('4.3.1      §4.3    pass      12 ms  It is <so>.')
    expect(lines).toContain(`${' '.repeat(36)}201`)
    expect(lines).toContain('1 passed, 1 failed, 1 skipped')
  })

  it('is JUnit that any reader takes', () => {
    const xml = junit(run)
    expect(xml).toContain('<testsuite name="section 4.3" tests="3" failures="1" skipped="1">')
    expect(xml).toContain('name="4.3.1 It is &lt;so>." time="0.012"></testcase>')
    expect(xml).toContain('<failure message="409 &amp; not\n201"/>')
    expect(xml).toContain('<skipped message="needs an admin"/>')
  })

  it('is Markdown that is the same whenever the verdicts are', () => {
    const slower = { ...run, verdicts: verdicts.map((verdict) => ({ ...verdict, ms: verdict.ms + 1 })) }
    expect(markdown([slower])).toBe(markdown([run]))
    expect(markdown([run, run])).toContain('| 4.3.2 | 4.3 | It is \\| not "so". | FAIL | FAIL |')
    expect(markdown([run])).toContain('- 4.3.3, one process, skip: needs an admin')
  })
})
