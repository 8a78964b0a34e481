/** `GET /api/instruments`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { isActive } from '../../../../actors/match/suspension.ts'
import { errors, type HttpEnv } from '../../answers.ts'
import { SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { instrumentJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { InstrumentBody, json } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/instruments',
  tags: ['Market'],
  summary: 'All active instruments',
  description:
    'The players of every match that is not over, with the lot limits and factors that an order needs. Of a match in ' +
    'play, those on the pitch; a player becomes active when coming on, and the others are in ' +
    '`GET /api/matches/{id}/squad`. Later prices come over the WebSocket.',
  security: READ_SECURITY,
  responses: {
    200: json(
      z.object({ instruments: z.array(InstrumentBody) }),
      'First those that can be opened now, then the others; each by match and name.',
    ),
    ...errors(...SIGNED_IN),
  },
})

type Deps = Pick<HttpDeps, 'catalogue' | 'rules' | 'world'>

export function listInstruments({ catalogue, rules, world }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedInTogether }, async (c) => {
    const active = (await catalogue.instruments()).filter(({ match, instrument }) => isActive(match, instrument))
    const now = world.now()
    const shown = active.map((listing) => instrumentJson(listing, now, rules()))
    const isOpen = ({ tradingStatus }: (typeof shown)[number]): number => Number(tradingStatus === 'OPEN')
    return c.json({ instruments: shown.toSorted((a, b) => isOpen(b) - isOpen(a)) }, 200)
  })
}
