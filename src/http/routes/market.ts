/** Players, matches and districts: what there is to trade (specification 4.2). */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { HOUR_MS, instant, MINUTE_MS } from '../../../actors/kernel/world.ts'
import { errors, fail, type HttpEnv, notFound } from '../answers.ts'
import { INPUT, SIGNED_IN } from '../error-codes.ts'
import { ACCESS_SECURITY, type Gates } from '../gates.ts'
import {
  instrumentJson,
  matchEventsJson,
  matchJson,
  moversJson,
  priceHistoryJson,
  recentTradesJson,
  squadJson,
  windowJson,
} from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import {
  FixtureIdInput,
  InstrumentBody,
  InstrumentIdInput,
  json,
  MatchBody,
  MatchEventsBody,
  MoversBody,
  PERIODS,
  PriceHistoryBody,
  RecentTradesBody,
  SquadBody,
  WindowBody,
} from '../schemas.ts'

const instruments = createRoute({
  method: 'get',
  path: '/api/instruments',
  tags: ['Market'],
  summary: 'All active instruments',
  description:
    'The players of every match that is in play, about to begin or just over, with all that an order ticket needs. ' +
    'Prices go on over the WebSocket.',
  security: ACCESS_SECURITY,
  responses: { 200: json(z.object({ instruments: z.array(InstrumentBody) }), 'By match.'), ...errors(...SIGNED_IN) },
})

const instrument = createRoute({
  method: 'get',
  path: '/api/instruments/{id}',
  tags: ['Market'],
  summary: 'One instrument',
  description: 'The same as in the list, of one player.',
  security: ACCESS_SECURITY,
  request: { params: z.object({ id: InstrumentIdInput }) },
  responses: { 200: json(InstrumentBody, 'As last committed.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

const movers = createRoute({
  method: 'get',
  path: '/api/instruments/movers',
  tags: ['Market'],
  summary: 'The top five gainers, losers and most traded of the last 24 hours',
  description: 'By the change of the price and by the lots traded. Worked out once a minute.',
  security: ACCESS_SECURITY,
  responses: { 200: json(MoversBody, 'At most a minute old.'), ...errors(...SIGNED_IN) },
})

const priceHistory = createRoute({
  method: 'get',
  path: '/api/instruments/{id}/price-history',
  tags: ['Market'],
  summary: 'The prices of an instrument over a period that ends now',
  description:
    'A longer period is thinned evenly. Open, high, low and change are over what is returned, volume over the period.',
  security: ACCESS_SECURITY,
  request: {
    params: z.object({ id: InstrumentIdInput }),
    query: z.object({ period: z.enum(PERIODS).default('1d') }),
  },
  responses: { 200: json(PriceHistoryBody, 'At most 500 ticks.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

const recentTrades = createRoute({
  method: 'get',
  path: '/api/instruments/{id}/recent-trades',
  tags: ['Market'],
  summary: 'What was traded in an instrument last, by nobody in particular',
  description: 'What full time or a void closes is no trade.',
  security: ACCESS_SECURITY,
  request: {
    params: z.object({ id: InstrumentIdInput }),
    query: z.object({ limit: z.coerce.number().int().min(1).max(100).default(50) }),
  },
  responses: { 200: json(RecentTradesBody, 'The newest first.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

const matchEvents = createRoute({
  method: 'get',
  path: '/api/matches/{id}/events',
  tags: ['Market'],
  summary: 'What has happened in a match, with the statistics of both teams',
  description:
    'Goals, cards, substitutions and whatever else the provider reports; some are missing where it has none. What is ' +
    'called off stays, as `retracted`.',
  security: ACCESS_SECURITY,
  request: { params: z.object({ id: FixtureIdInput }) },
  responses: { 200: json(MatchEventsBody, 'In the order of play.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

const squad = createRoute({
  method: 'get',
  path: '/api/matches/{id}/squad',
  tags: ['Market'],
  summary: 'The players of one team of a match',
  description: "Starters first, then the bench, with what each has done so far. Statistics have the provider's names.",
  security: ACCESS_SECURITY,
  request: {
    params: z.object({ id: FixtureIdInput }),
    query: z.object({ team: z.enum(['home', 'away']).default('home') }),
  },
  responses: {
    200: json(SquadBody, 'Empty until there are line-ups.'),
    ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND'),
  },
})

const matches = createRoute({
  method: 'get',
  path: '/api/matches',
  tags: ['Market'],
  summary: 'All fixtures, with their trade windows',
  description: 'What is in play, what is over of late, and the calendar of what is to come.',
  security: ACCESS_SECURITY,
  responses: {
    200: json(z.object({ matches: z.array(MatchBody) }), 'Up to 500; what has been over longest falls away.'),
    ...errors(...SIGNED_IN),
  },
})

const window = createRoute({
  method: 'get',
  path: '/api/matches/{id}/trade-window',
  tags: ['Market'],
  summary: 'Whether a match takes trades, and why not',
  description:
    'Open during play and in every break up to penalties. Suspended after a goal, card, penalty or VAR check until ' +
    'there is a new price, and while the feed is late.',
  security: ACCESS_SECURITY,
  request: { params: z.object({ id: FixtureIdInput }) },
  responses: { 200: json(WindowBody, 'As of `serverTime`.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

const districts = createRoute({
  method: 'get',
  path: '/api/districts',
  tags: ['Market'],
  summary: 'All districts a user may belong to',
  description: 'Open to all: whoever registers chooses one.',
  responses: {
    200: json(z.object({ districts: z.array(z.object({ id: z.int(), name: z.string() })) }), 'By name.'),
    ...errors(),
  },
})

/** How far back each period reaches, null to the beginning. */
const REACH_MS: Readonly<Record<(typeof PERIODS)[number], number | null>> = {
  '5m': 5 * MINUTE_MS,
  '1h': HOUR_MS,
  '6h': 6 * HOUR_MS,
  '1d': 24 * HOUR_MS,
  all: null,
}

export function marketRoutes({ catalogue, history, accounts, world, rules }: HttpDeps, gates: Gates) {
  return (
    new OpenAPIHono<HttpEnv>()
      .openapi({ ...instruments, middleware: gates.signedIn }, async (c) => {
        const listings = await catalogue.instruments()
        const now = world.now()
        return c.json({ instruments: listings.map((listing) => instrumentJson(listing, now, rules())) }, 200)
      })
      // Before `/{id}`, which would take it for an id.
      .openapi({ ...movers, middleware: gates.signedIn }, async (c) => c.json(moversJson(await history.movers()), 200))
      .openapi({ ...priceHistory, middleware: gates.signedIn }, async (c) => {
        const { id } = c.req.valid('param')
        const { period } = c.req.valid('query')
        const reach = REACH_MS[period]
        const [known, prices] = await Promise.all([
          catalogue.instrument(id),
          history.prices(id, reach === null ? null : instant(world.now() - reach)),
        ])
        if (known === null) return fail(c, notFound('instrument'))
        return c.json(priceHistoryJson(id, period, prices), 200)
      })
      .openapi({ ...recentTrades, middleware: gates.signedIn }, async (c) => {
        const { id } = c.req.valid('param')
        const [known, trades] = await Promise.all([
          catalogue.instrument(id),
          history.trades(id, c.req.valid('query').limit),
        ])
        if (known === null) return fail(c, notFound('instrument'))
        return c.json(recentTradesJson(trades), 200)
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
      .openapi({ ...matchEvents, middleware: gates.signedIn }, async (c) => {
        const match = await catalogue.match(c.req.valid('param').id)
        if (match === null) return fail(c, notFound('match'))
        return c.json(matchEventsJson(match), 200)
      })
      .openapi({ ...squad, middleware: gates.signedIn }, async (c) => {
        const match = await catalogue.match(c.req.valid('param').id)
        if (match === null) return fail(c, notFound('match'))
        return c.json(squadJson(match, c.req.valid('query').team), 200)
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
  )
}
