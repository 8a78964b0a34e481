/** `/api/me/follows` and `/api/me/alerts`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { decimal } from '../../../actors/kernel/micros.ts'
import { errors, fail, type HttpEnv, invalid, notFound } from '../../http/answers.ts'
import { BODY, CHANGE, INPUT, SIGNED_IN } from '../../http/error-codes.ts'
import { BROWSER_SECURITY, type Gates } from '../../http/gates.ts'
import { comparedPriceInput, fieldsBody, InstrumentIdInput } from '../../http/inputs.ts'
import { timestamp } from '../../http/json.ts'
import { json } from '../../http/schemas.ts'
import { watchlistErrors } from './errors.ts'
import { KINDS } from './news.ts'
import { followKinds, PriceAlertBody, WatchlistBody } from './schema.ts'
import { ALERTS_MAX, PLAYERS_MAX, type PriceAlert, type Watchlist, type Watchlists } from './store.ts'

const TAGS = ['Notifications']
const PlayerPath = z.object({ instrumentId: InstrumentIdInput })
const followed = (is: boolean) => z.object({ followed: z.literal(is) })

const list = createRoute({
  method: 'get',
  path: '/api/me/follows',
  operationId: 'listFollows',
  tags: TAGS,
  summary: 'The players that the caller follows, and their price alerts',
  description: 'Also the kinds of news about players that the caller is notified of.',
  security: BROWSER_SECURITY,
  responses: { 200: json(WatchlistBody, 'As of now.'), ...errors(...SIGNED_IN) },
})

const choose = createRoute({
  method: 'put',
  path: '/api/me/follows',
  operationId: 'chooseFollowKinds',
  tags: TAGS,
  summary: 'Choose which news of followed players the caller is notified of',
  description: 'For all players. News of several at once is one notification. Price alerts are always sent.',
  security: BROWSER_SECURITY,
  request: { body: fieldsBody({ kinds: followKinds.max(KINDS.length) }) },
  responses: { 200: json(WatchlistBody, 'As it is now.'), ...errors(...SIGNED_IN, ...BODY, ...CHANGE) },
})

const follow = createRoute({
  method: 'put',
  path: '/api/me/follows/{instrumentId}',
  operationId: 'followPlayer',
  tags: TAGS,
  summary: 'Follow a player',
  description:
    'The caller is then notified of line-ups, kick-offs, goals, cards and substitutions of the player, within 30 ' +
    'seconds. At most 50 players. A repetition changes nothing.',
  security: BROWSER_SECURITY,
  request: { params: PlayerPath },
  responses: {
    200: json(followed(true), 'The player is followed.'),
    ...watchlistErrors.responses(...SIGNED_IN, ...INPUT, ...CHANGE, 'NOT_FOUND', 'FOLLOW_LIMIT'),
  },
})

const unfollow = createRoute({
  method: 'delete',
  path: '/api/me/follows/{instrumentId}',
  operationId: 'unfollowPlayer',
  tags: TAGS,
  summary: 'Stop following a player',
  description: 'No error if the caller does not follow the player. Price alerts stay.',
  security: BROWSER_SECURITY,
  request: { params: PlayerPath },
  responses: {
    200: json(followed(false), 'The player is not followed.'),
    ...errors(...SIGNED_IN, ...INPUT, ...CHANGE),
  },
})

const addAlert = createRoute({
  method: 'post',
  path: '/api/me/alerts',
  operationId: 'addPriceAlert',
  tags: TAGS,
  summary: 'Set a price alert',
  description:
    'The caller is notified once, seconds after the price of the player in an unsettled match is at the level or beyond ' +
    'it; then the alert is gone. At most 20; the same level again is the same alert.',
  security: BROWSER_SECURITY,
  request: {
    body: fieldsBody({
      instrumentId: InstrumentIdInput,
      level: comparedPriceInput(z.number().min(0.01).max(1_000_000)).openapi({ example: 210 }),
    }),
  },
  responses: {
    200: json(PriceAlertBody, 'The alert.'),
    ...watchlistErrors.responses(...SIGNED_IN, ...BODY, ...CHANGE, 'NOT_FOUND', 'ALERT_LIMIT'),
  },
})

const removeAlert = createRoute({
  method: 'delete',
  path: '/api/me/alerts/{id}',
  operationId: 'removePriceAlert',
  tags: TAGS,
  summary: 'Delete a price alert',
  description: 'An alert that has fired no longer exists.',
  security: BROWSER_SECURITY,
  request: {
    params: z.object({
      id: z.guid().toLowerCase().openapi({ format: 'uuid', example: '0197f2a0-9b8c-7d1e-8f2a-3b4c5d6e7f80' }),
    }),
  },
  responses: {
    200: json(z.object({ deleted: z.literal(true) }), 'It does not fire.'),
    ...errors(...SIGNED_IN, ...INPUT, ...CHANGE, 'NOT_FOUND'),
  },
})

export interface WatchlistPorts {
  readonly watchlists: Pick<
    Watchlists,
    'list' | 'choose' | 'follow' | 'unfollow' | 'alert' | 'removeAlert' | 'remind' | 'forget'
  >
}

export function follows({ watchlists }: WatchlistPorts, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...list, middleware: gates.signedIn }, async (c) =>
      c.json(watchlistJson(await watchlists.list(c.var.caller.userId)), 200),
    )
    .openapi({ ...choose, middleware: gates.signedIn }, async (c) => {
      const { userId } = c.var.caller
      await watchlists.choose(userId, c.req.valid('json').kinds)
      return c.json(watchlistJson(await watchlists.list(userId)), 200)
    })
    .openapi({ ...follow, middleware: gates.signedIn }, async (c) => {
      const done = await watchlists.follow(c.var.caller.userId, c.req.valid('param').instrumentId)
      if (done === 'unknown') return fail(c, notFound('instrument'))
      if (done === 'full') {
        return fail(c, watchlistErrors.answer('FOLLOW_LIMIT', { facts: { maxPlayers: PLAYERS_MAX } }))
      }
      return c.json({ followed: true as const }, 200)
    })
    .openapi({ ...unfollow, middleware: gates.signedIn }, async (c) => {
      await watchlists.unfollow(c.var.caller.userId, c.req.valid('param').instrumentId)
      return c.json({ followed: false as const }, 200)
    })
    .openapi({ ...addAlert, middleware: gates.signedIn }, async (c) => {
      const { instrumentId, level } = c.req.valid('json')
      const made = await watchlists.alert(c.var.caller.userId, instrumentId, level)
      switch (made.kind) {
        case 'made':
          return c.json(alertJson(made.alert), 200)
        case 'unknown':
          return fail(c, notFound('instrument'))
        case 'full':
          return fail(c, watchlistErrors.answer('ALERT_LIMIT', { facts: { maxAlerts: ALERTS_MAX } }))
        case 'reached':
          return fail(c, invalid('level', `is the price now, ${decimal(made.price)}; name another`))
      }
    })
    .openapi({ ...removeAlert, middleware: gates.signedIn }, async (c) =>
      (await watchlists.removeAlert(c.var.caller.userId, c.req.valid('param').id))
        ? c.json({ deleted: true as const }, 200)
        : fail(c, notFound('alert')),
    )
}

const alertJson = ({ id, instrumentId, player, level, isAbove, createdAt }: PriceAlert) => ({
  id,
  instrumentId,
  player,
  level: decimal(level),
  direction: isAbove ? ('above' as const) : ('below' as const),
  createdAt: timestamp(createdAt),
})

const watchlistJson = ({ kinds, players, alerts, reminders }: Watchlist): z.output<typeof WatchlistBody> => ({
  kinds: [...kinds],
  players: players.map(({ instrumentId, name, price: now, since }) => ({
    instrumentId,
    player: name,
    currentPrice: decimal(now),
    since: timestamp(since),
  })),
  alerts: alerts.map(alertJson),
  reminders: reminders.map(Number),
})
