/** `GET /api/player-of-the-week`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { fail, type HttpEnv } from '../../http/answers.ts'
import { SIGNED_IN } from '../../http/error-codes.ts'
import { READ_SECURITY, type Gates } from '../../http/gates.ts'
import { instrumentIdText, json } from '../../http/schemas.ts'
import { playerErrors } from './errors.ts'
import type { PlayerWeeks } from './store.ts'

const PPM_PER_PERCENT = 10_000

const PlayerOfTheWeekBody = z
  .object({
    week: z.string().openapi({ description: 'ISO week, from Monday 00:00 UTC.', example: '2026-W21' }),
    players: z
      .array(
        z.object({
          rank: z.int().openapi({ example: 1 }),
          instrumentId: instrumentIdText,
          name: z.string().openapi({ example: 'A. Striker' }),
          team: z.string().openapi({ example: 'Harbour' }),
          gainPct: z
            .number()
            .openapi({ description: 'The rise of the base over the week, in per cent.', example: 4.2 }),
        }),
      )
      .openapi({ description: 'The best first.' }),
  })
  .openapi('PlayerOfTheWeek')

const route = createRoute({
  method: 'get',
  path: '/api/player-of-the-week',
  operationId: 'getPlayerOfTheWeek',
  tags: ['Player of the week'],
  summary: 'The footballers whose base rose most in the last week',
  description: 'From the first base of the week to the last settlement, in live matches. Replays do not count.',
  security: READ_SECURITY,
  responses: {
    200: json(PlayerOfTheWeekBody, 'The newest week that has a board.'),
    ...playerErrors.responses(...SIGNED_IN, 'NO_WEEK_YET'),
  },
})

export interface PlayerPorts {
  readonly weeks: Pick<PlayerWeeks, 'latest'>
}

export function playerOfTheWeek({ weeks }: PlayerPorts, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const board = await weeks.latest()
    if (board === null) return fail(c, playerErrors.answer('NO_WEEK_YET'))
    const players = board.players.map(({ gainPpm, ...player }) => ({ ...player, gainPct: gainPpm / PPM_PER_PERCENT }))
    return c.json({ week: board.week, players }, 200)
  })
}
