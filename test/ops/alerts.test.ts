/** Every alert is evaluated by Prometheus's own promtool, on series on which it fires and on others. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { present } from '../../actors/kernel/assert.ts'
import { ALERT_CASES, type AlertCase, type AlertSeries } from './alert-cases.ts'
import { type AlertRule, alertRules } from './watching.ts'

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined
const folder = mkdtempSync(join(tmpdir(), 'touchline-alerts-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** By then every alert that waits has waited long enough. */
const AT = '35m'

/** What promtool prints when the alert does not behave as `fires` says; empty if it does. */
function evaluated(rule: AlertRule, its: AlertCase, isFiring: boolean): string {
  const given = [isFiring ? its.fires : its.quiet].flat()
  return given.map((series) => evaluatedOn(series, rule, its, isFiring)).join('')
}

function evaluatedOn(given: AlertSeries, rule: AlertRule, { labels = {} }: AlertCase, isFiring: boolean): string {
  const series = Object.entries(given).map(([name, values]) => ({ series: name, values }))
  const filled = (text: string): string => text.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label) => labels[label] ?? '')
  const expected = {
    exp_labels: { ...labels, severity: rule.labels.severity },
    exp_annotations: { ...rule.annotations, summary: filled(rule.annotations.summary) },
  }
  const test = {
    interval: '1m',
    input_series: series,
    alert_rule_test: [{ eval_time: AT, alertname: rule.alert, ...(isFiring ? { exp_alerts: [expected] } : {}) }],
  }
  // This rule alone: evaluating all of them takes half a second.
  const rules = join(folder, `${rule.alert}.rules.yaml`)
  const file = join(folder, `${rule.alert}.test.yaml`)
  writeFileSync(rules, stringify({ groups: [{ name: 'one', rules: [rule] }] }))
  writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: '15s', tests: [test] }))
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
  return status === 0 ? '' : `${stdout}${stderr}`
}

it('promtool is there where every server must be', () => {
  expect(hasPromtool || process.env['CI'] === undefined).toBe(true)
})

describe.skipIf(!hasPromtool)('ops/deploy/alerts.yaml', () => {
  const rules = alertRules()

  it('has a case for every alert, and no other', () => {
    expect(Object.keys(ALERT_CASES).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
  })

  it.each(rules.map((rule) => [rule.alert, rule] as const))('%s fires when it should', (alert, rule) => {
    const its = present(ALERT_CASES[alert], 'a case')
    expect(evaluated(rule, its, true)).toBe('')
    expect(evaluated(rule, its, false)).toBe('')
  })

  it('notices an alert that does not fire', () => {
    const [rule] = rules
    const never = { fires: { touchline_other: '1+0x40' }, quiet: {} }
    expect(evaluated(present(rule, 'a rule'), never, true)).toContain('FAILED')
  })
})
