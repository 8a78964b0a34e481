/** `GET /api/admin/risk`: the house's risk, and who causes it. */
import { createRoute, OpenAPIHono, type z } from '@hono/zod-openapi'
import { decimal } from '../../../actors/kernel/micros.ts'
import type { DayResult, Risk } from './risk.ts'
import { errors, type HttpEnv } from '../../http/answers.ts'
import { ADMIN } from '../../http/error-codes.ts'
import { ADMIN_READ_SECURITY, type Gates } from '../../http/gates.ts'
import { timestamp } from '../../http/json.ts'
import type { Voids } from './voids.ts'
import { json } from '../../http/schemas.ts'
import { RiskBody } from './schema.ts'

const route = createRoute({
  method: 'get',
  path: '/api/admin/risk',
  operationId: 'getRisk',
  tags: ['Admin'],
  summary: 'What is open, who wins and loses today, who opens ahead of moves, and connected accounts',
  description: 'From what is stored, at most ten seconds old.',
  security: ADMIN_READ_SECURITY,
  responses: { 200: json(RiskBody, 'The risk.'), ...errors(...ADMIN) },
})

const PPM_PER_PCT = 10_000

export interface IntegrityPorts {
  /** Voids a position, open or closed. A repetition under the same key changes nothing. */
  readonly voids: Pick<Voids, 'void'>
  /** At most ten seconds old. */
  readonly risk: () => Promise<Risk>
}

export function adminRisk({ risk: read }: IntegrityPorts, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.admin }, async (c) => {
    const risk = await read()
    const body: z.output<typeof RiskBody> = {
      asOf: timestamp(risk.asOf),
      exposures: risk.exposures.map(({ long, short, margin, houseToday, ...player }) => ({
        ...player,
        long: decimal(long),
        short: decimal(short),
        margin: decimal(margin),
        houseToday: decimal(houseToday),
      })),
      houseToday: decimal(risk.houseToday),
      winners: risk.winners.map(resultJson),
      losers: risk.losers.map(resultJson),
      markOuts: risk.markOuts.map(({ after10s, after60s, ...user }) => ({
        ...user,
        after10s: after10s / PPM_PER_PCT,
        after60s: after60s / PPM_PER_PCT,
      })),
      groups: risk.groups.map(({ at, users, finding }) => ({ at: timestamp(at), finding, users: [...users] })),
    }
    return c.json(body, 200)
  })
}

const resultJson = ({ pnl, ...user }: DayResult) => ({ ...user, pnl: decimal(pnl) })
