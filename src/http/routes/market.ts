/** Players, matches and districts: what there is to trade (specification 4.2). */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, notFound } from '../answers.ts'
import { ACCESS_SECURITY, type Gates } from '../gates.ts'
import { instrumentJson, matchJson, windowJson } from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import { FixtureIdInput, InstrumentBody, InstrumentIdInput, json, MatchBody, WindowBody } from '../schemas.ts'

const instruments = createRoute({
  method: 'get',
  path: '/api/instruments',
  tags: ['Market'],
  summary: 'All active instruments',
  security: ACCESS_SECURITY,
  responses: { 200: json(z.object({ instruments: z.array(InstrumentBody) }), 'By match.'), ...errors(401, 503) },
})

const instrument = createRoute({
  method: 'get',
  path: '/api/instruments/{id}',
  tags: ['Market'],
  summary: 'One instrument',
  security: ACCESS_SECURITY,
  request: { params: z.object({ id: InstrumentIdInput }) },
  responses: { 200: json(InstrumentBody, 'As last committed.'), ...errors(400, 401, 404, 503) },
})

const matches = createRoute({
  method: 'get',
  path: '/api/matches',
  tags: ['Market'],
  summary: 'All fixtures, with their trade windows',
  security: ACCESS_SECURITY,
  responses: { 200: json(z.object({ matches: z.array(MatchBody) }), 'All of them.'), ...errors(401, 503) },
})

const window = createRoute({
  method: 'get',
  path: '/api/matches/{id}/trade-window',
  tags: ['Market'],
  summary: 'Whether a match takes trades, and why not',
  security: ACCESS_SECURITY,
  request: { params: z.object({ id: FixtureIdInput }) },
  responses: { 200: json(WindowBody, 'As of `serverTime`.'), ...errors(400, 401, 404, 503) },
})

const districts = createRoute({
  method: 'get',
  path: '/api/districts',
  tags: ['Market'],
  summary: 'All districts a user may belong to',
  responses: {
    200: json(z.object({ districts: z.array(z.object({ id: z.int(), name: z.string() })) }), 'By name.'),
    ...errors(503),
  },
})

export function marketRoutes({ catalogue, accounts, world, rules }: HttpDeps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...instruments, middleware: gates.signedIn }, async (c) => {
      const listings = await catalogue.instruments()
      const now = world.now()
      return c.json({ instruments: listings.map((listing) => instrumentJson(listing, now, rules())) }, 200)
    })
    .openapi({ ...instrument, middleware: gates.signedIn }, async (c) => {
      const listing = await catalogue.instrument(c.req.valid('param').id)
      if (listing === null) return fail(c, notFound('instrument'))
      return c.json(instrumentJson(listing, world.now(), rules()), 200)
    })
    .openapi({ ...matches, middleware: gates.signedIn }, async (c) => {
      const known = await catalogue.matches()
      const now = world.now()
      return c.json({ matches: known.map((match) => matchJson(match, now, rules())) }, 200)
    })
    .openapi({ ...window, middleware: gates.signedIn }, async (c) => {
      const match = await catalogue.match(c.req.valid('param').id)
      if (match === null) return fail(c, notFound('match'))
      return c.json(windowJson(match, world.now(), rules()), 200)
    })
    .openapi(districts, async (c) => {
      const known = await accounts.districts()
      return c.json({ districts: known.map(({ id, name }) => ({ id: Number(id), name })) }, 200)
    })
}
