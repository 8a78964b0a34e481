/** The expressions of monitoring: alert rules and dashboards. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

const OPS = join(import.meta.dirname, '../../ops')
const Rule = z.strictObject({
  alert: z.string().regex(/^[A-Z]\w+$/),
  expr: z.string(),
  for: z
    .string()
    .regex(/^\d+[sm]$/)
    .optional(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string().min(10), runbook: z.string() }),
})
const Rules = z.strictObject({ groups: z.array(z.strictObject({ name: z.string(), rules: z.array(Rule) })) })
export type AlertRule = z.infer<typeof Rule>
const Dashboard = z.object({ panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })) })

export const alertRules = (): AlertRule[] =>
  Rules.parse(parse(readFileSync(join(OPS, 'deploy/alerts.yaml'), 'utf8'))).groups.flatMap(({ rules }) => rules)

export function expressions(): string[] {
  const dashboards = readdirSync(join(OPS, 'deploy/grafana')).map((file) =>
    Dashboard.parse(JSON.parse(readFileSync(join(OPS, 'deploy/grafana', file), 'utf8'))),
  )
  const targets = dashboards.flatMap(({ panels }) => panels.flatMap((panel) => panel.targets))
  return [...alertRules(), ...targets].map(({ expr }) => expr)
}

/** The metrics that an expression names, except `up`, which is Prometheus' own. */
export const metricsIn = (expression: string): string[] => expression.match(/\b(?:touchline|process|nodejs)_\w+/g) ?? []
