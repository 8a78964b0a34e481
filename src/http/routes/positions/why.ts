/** `GET /api/positions/{id}/why`. */
import { createRoute, OpenAPIHono, type z } from '@hono/zod-openapi'
import { decimal, type Price } from '../../../../actors/kernel/micros.ts'
import type { Instant } from '../../../../actors/kernel/world.ts'
import { closeWords, eventReason, percentWords } from '../../../../actors/market/reason-words.ts'
import { type Close, type Position, washoutPrice } from '../../../../actors/position/position.ts'
import type { PriceMove } from '../../../../db/price-moves.ts'
import { MOVES_MAX, WhyBody } from '../../account-schemas.ts'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { timestamp } from '../../json.ts'
import { sumsJson } from '../../move-sums.ts'
import type { HttpDeps } from '../../ports.ts'
import { partsJson } from '../../reason-schema.ts'
import { json } from '../../schemas.ts'
import { IdPath } from './order.ts'

type Why = z.output<typeof WhyBody>

/** Moves that are summed: two and a half hours of one a second. */
const LOOKED_MAX = 9_000

const route = createRoute({
  method: 'get',
  path: '/api/positions/{id}/why',
  tags: ['Trading'],
  summary: "What moved the price while one of the caller's positions was open, and what closed it",
  description:
    'The largest moves between its opening and its close, or now, each with its reason as data and as a sentence, and ' +
    'the sums of all by cause. ' +
    'Old ticks are thinned to one a minute (`retention.full_ticks_days`) and later dropped (`retention.ticks_days`); ' +
    'moves are then told as far as they are still known.',
  security: READ_SECURITY,
  request: { params: IdPath },
  responses: { 200: json(WhyBody, 'The reasons.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

type Deps = Pick<HttpDeps, 'history' | 'positions' | 'world'>

export function whyPosition({ history, positions, world }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const held = await positions.find(c.var.caller.userId, c.req.valid('param').id)
    if (held === null) return fail(c, notFound('position'))
    const { position, currentPrice } = held
    const { id, instrumentId, openedAt, openPrice, close } = position
    const until = close === null ? null : close.at
    const all = await history.moves(instrumentId, { after: openedAt, until, limit: LOOKED_MAX })
    const moves = largest(all, until)
    const body: Why = {
      positionId: id,
      instrumentId,
      openedAt: timestamp(openedAt),
      openPrice: decimal(openPrice),
      until: timestamp(until ?? world.now()),
      price: decimal(close === null ? currentPrice : close.price),
      moves: moves.map(moveJson),
      because: sumsJson(all, eventReason),
      close: close === null ? null : closeJson(position, close, moves),
    }
    return c.json(body, 200)
  })
}

/** The largest moves, and the one at the end however small it is, in order. */
const largest = (all: readonly PriceMove[], until: Instant | null): readonly PriceMove[] =>
  all
    .toSorted(
      (a, b) => Number(b.at === until) - Number(a.at === until) || Math.abs(b.to - b.from) - Math.abs(a.to - a.from),
    )
    .slice(0, MOVES_MAX)
    .toSorted((a, b) => a.at - b.at)

const moveWords = ({ reason, from, to }: PriceMove): string => `${reason.words}: ${percentWords(from, to)}`

const moveJson = (move: PriceMove): Why['moves'][number] => ({
  at: timestamp(move.at),
  from: decimal(move.from),
  to: decimal(move.to),
  reason: move.reason,
  parts: partsJson(move),
  sentence: `${moveWords(move)}.`,
})

function closeJson(position: Position, close: Close, moves: readonly PriceMove[]): NonNullable<Why['close']> {
  const { by, voidReason, at } = close
  // Its owner's close moves the price itself.
  const tick = by === 'user' ? null : (moves.findLast((move) => move.at === at) ?? null)
  const level = levelOf(position, by)
  const rule = closeWords({ by, voidReason, at: decimal(level ?? close.price).toFixed(2) })
  const tells = tick !== null && by !== 'full_time' && tick.from !== tick.to
  const sentence = tells ? `${moveWords(tick)}; ${rule}.` : `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`
  return {
    by,
    at: timestamp(at),
    price: decimal(close.price),
    level: level === null ? null : decimal(level),
    tick: tick === null ? null : moveJson(tick),
    sentence,
  }
}

function levelOf(position: Position, by: Close['by']): Price | null {
  if (by === 'stop_loss') return position.stopLoss
  if (by === 'take_profit') return position.takeProfit
  return by === 'washout' ? washoutPrice(position) : null
}
