/** `GET /api/admin/risk`: the house's risk, and who causes it. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { decimal } from '../../../actors/kernel/micros.ts'
import type { DayResult, Risk } from './risk.ts'
import { errors, type HttpEnv } from '../../http/answers.ts'
import { ADMIN } from '../../http/error-codes.ts'
import { ADMIN_READ_SECURITY, type Gates } from '../../http/gates.ts'
import { timestamp } from '../../http/json.ts'
import type { Voids } from './voids.ts'
import { instrumentIdText, json, timestampText, userIdText, usernameText } from '../../http/schemas.ts'

const units = z.number().openapi({ example: -412.5 })
const who = { userId: userIdText, username: usernameText }

const DayResultBody = z
  .object({ ...who, pnl: units, closes: z.int().openapi({ example: 14 }) })
  .openapi('DayResult', { description: 'Realised PnL of the UTC day, without void positions.' })

const moveText = z.number().openapi({ example: 0.42 })

const RiskBody = z
  .object({
    asOf: timestampText,
    exposures: z
      .array(
        z.object({
          matchId: z.int().openapi({ example: 19_134_569 }),
          instrumentId: instrumentIdText,
          name: z.string().openapi({ example: 'Ada Lovell' }),
          positions: z.int().openapi({ example: 120 }),
          long: units.openapi({ description: 'Lots.', example: 41.5 }),
          short: units.openapi({ description: 'Lots.', example: 12.25 }),
          margin: units.openapi({ example: 4_120 }),
          houseToday: units.openapi({ description: 'Earned by the house with closes in this player today.' }),
        }),
      )
      .openapi({ description: 'What is open in the main purse, the most one-sided player first; at most 200.' }),
    houseToday: units.openapi({
      description: 'What the house has earned today, over the last 50,000 closes: what users lost less what they won.',
    }),
    winners: z.array(DayResultBody).openapi({ description: 'At most 20.' }),
    losers: z.array(DayResultBody).openapi({ description: 'At most 20.' }),
    markOuts: z
      .array(
        z.object({
          ...who,
          openings: z.int().openapi({ example: 31 }),
          after10s: moveText.openapi({
            description: 'Per cent that the base moved in their favour within 10 s, on average.',
          }),
          after60s: moveText.openapi({ description: 'The same within 60 s.' }),
        }),
      )
      .openapi({ description: 'People with 5 openings or more in the last three hours, the farthest ahead first.' }),
    groups: z
      .array(
        z.object({
          at: timestampText,
          finding: z.string().openapi({ example: 'lockstep' }),
          users: z.array(z.object(who)),
        }),
      )
      .openapi({ description: 'Named together by an alert of the last week, newest first.' }),
  })
  .openapi('Risk')

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
