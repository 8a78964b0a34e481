/** The expressions of monitoring: alert rules and dashboards. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

const OPS = join(import.meta.dirname, '../../ops')
const Rules = z.object({ groups: z.array(z.object({ rules: z.array(z.object({ expr: z.string() })) })) })
const Dashboard = z.object({ panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })) })

export function expressions(): string[] {
  const { groups } = Rules.parse(parse(readFileSync(join(OPS, 'deploy/alerts.yaml'), 'utf8')))
  const dashboards = readdirSync(join(OPS, 'deploy/grafana')).map((file) =>
    Dashboard.parse(JSON.parse(readFileSync(join(OPS, 'deploy/grafana', file), 'utf8'))),
  )
  const targets = dashboards.flatMap(({ panels }) => panels.flatMap((panel) => panel.targets))
  return [...groups.flatMap(({ rules }) => rules), ...targets].map(({ expr }) => expr)
}

/** The metrics that an expression names, except `up`, which is Prometheus' own. */
export const metricsIn = (expression: string): string[] => expression.match(/\b(?:touchline|process|nodejs)_\w+/g) ?? []
