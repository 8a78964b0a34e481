/** `GET /api/recaps/matches/{matchId}`, `GET /api/recaps/weeks/{week}`, and the card of each. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { type Recap, recapOf } from './recap.ts'
import { type Week, weekNamed } from '../../../actors/kernel/calendar.ts'
import type { UserId } from '../../../actors/kernel/ids.ts'
import { decimal } from '../../../actors/kernel/micros.ts'
import type { Purse } from '../../../actors/kernel/purse.ts'
import { type Instant, instant } from '../../../actors/kernel/world.ts'
import { percentWords } from '../../../actors/market/reason-words.ts'
import type { MatchInfo } from '../../../actors/match/messages.ts'
import type { ClosedPosition } from '../../../actors/position/position.ts'
import type { RankChange, RecapQuery, Recaps } from './store.ts'
import { answerWith, errors, fail, type HttpEnv, notFound } from '../../http/answers.ts'
import { INPUT, SIGNED_IN } from '../../http/error-codes.ts'
import { READ_SECURITY, type Gates, type SignedInEnv } from '../../http/gates.ts'
import { FixtureIdInput, purseInput } from '../../http/inputs.ts'
import { timestamp } from '../../http/json.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { type FairQueue, QUEUE_FULL } from '../../http/queue.ts'
import { INSTANT_MAX, INSTANT_MIN } from '../../http/unfit-values.ts'
import { cardOf } from './card.ts'
import { json } from '../../http/schemas.ts'
import { type MoverBody, RecapBody, type RecapTradeBody } from './schema.ts'

const WeekInput = z
  .string()
  .openapi({ description: 'From Monday to Monday in UTC, by its ISO 8601 name.', example: '2026-W19' })
  .transform((id, ctx): Week => {
    const week = weekNamed(id)
    if (week !== null && week.startsAt >= INSTANT_MIN && week.endsAt <= INSTANT_MAX) return week
    ctx.addIssue({ code: 'custom', message: 'must be the name of a week, such as 2026-W19' })
    return z.NEVER
  })

const query = z.object({ purse: purseInput })
const cardQuery = query.extend({ type: z.enum(['svg', 'png']).default('png') })
const BASE = { method: 'get' as const, tags: ['Leaderboards'], security: READ_SECURITY }
const FAILURES = errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND')
const CARD_FAILURES = errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND', 'BUSY')
const DRAWN_IN_SECS = 2
/** Players whose price a match moved most. */
const MOVERS = 5
const picture = {
  description: 'The card, 1,200 × 630.',
  content: {
    'image/png': { schema: z.string().openapi({ format: 'binary', example: 'a picture' }) },
    'image/svg+xml': { schema: z.string().openapi({ example: '<svg/>' }) },
  },
}

const ofMatch = createRoute({
  ...BASE,
  path: '/api/recaps/matches/{matchId}',
  operationId: 'getMatchRecap',
  summary: "What a match made of the caller's positions",
  description:
    'During play: the result so far. `best` is null without a trade, and `worst` with fewer than two, ' +
    'or where all won.',
  request: { params: z.object({ matchId: FixtureIdInput }), query },
  responses: { 200: json(RecapBody, 'As the ledger has it.'), ...FAILURES },
})

const ofWeek = createRoute({
  ...BASE,
  path: '/api/recaps/weeks/{week}',
  operationId: 'getWeekRecap',
  summary: "What a week made of the caller's positions",
  description:
    'Counts the closes from Monday to Monday. `rank` is from before the first match that settled in the week to ' +
    'after the last. 404 if the caller has opened more than 20,000 positions since that Monday.',
  request: { params: z.object({ week: WeekInput }), query },
  responses: { 200: json(RecapBody, 'As the ledger has it.'), ...FAILURES },
})

const matchCard = createRoute({
  ...BASE,
  path: '/api/recaps/matches/{matchId}/card',
  operationId: 'getMatchRecapCard',
  summary: 'The recap of a match as a picture',
  description: 'For its owner to share. Requests of other users are refused.',
  request: { params: z.object({ matchId: FixtureIdInput }), query: cardQuery },
  responses: { 200: picture, ...CARD_FAILURES },
})

const weekCard = createRoute({
  ...BASE,
  path: '/api/recaps/weeks/{week}/card',
  operationId: 'getWeekRecapCard',
  summary: 'The recap of a week as a picture',
  description: 'For its owner to share. Requests of other users are refused.',
  request: { params: z.object({ week: WeekInput }), query: cardQuery },
  responses: { 200: picture, ...CARD_FAILURES },
})

/** What a recap is about. */
interface Subject {
  readonly title: string
  readonly match: MatchInfo | null
  readonly week: Week | null
  readonly query: RecapQuery
  readonly final: boolean
}

interface Made extends Subject {
  readonly since: Instant
  readonly recap: Recap
  readonly rank: RankChange | null
}

/** Why there is no recap. */
const UNMADE = { missing: notFound('recap'), crowded: QUEUE_FULL } as const
type Unmade = keyof typeof UNMADE

export interface RecapPorts {
  readonly recaps: Pick<Recaps, 'closes' | 'rank' | 'players' | 'marks'>
  /** Draws an SVG as a PNG; null when too many are being drawn. */
  readonly picture: (svg: string, gone: AbortSignal) => Promise<Uint8Array<ArrayBuffer> | null>
}
/** Before its end: a match that begins earlier has been suspended. */
const OPEN_MS = 8 * 86_400_000

type Deps = RecapPorts & Pick<HttpDeps, 'catalogue' | 'history' | 'community' | 'world'>
type TradeDeps = Pick<Deps, 'catalogue' | 'history'>

export function recapRoutes(deps: Deps & { readonly reading: FairQueue }, gates: Gates) {
  const { recaps, catalogue, world, reading } = deps

  const aboutMatch = (match: MatchInfo, purse: Purse): Subject => {
    const { home, away, matchId, startsAt, settledAt } = match
    const to = instant((settledAt ?? world.now()) + 1)
    return {
      title: `${home.name} ${home.goals ?? 0}–${away.goals ?? 0} ${away.name}`,
      match,
      week: null,
      query: { purse, match: matchId, from: instant(Math.min(startsAt, to - OPEN_MS)), to },
      final: settledAt !== null,
    }
  }
  const aboutWeek = (week: Week, purse: Purse): Subject => ({
    title: `Week ${week.name.slice(-2)} of ${week.name.slice(0, 4)}`,
    match: null,
    week,
    query: { purse, match: null, from: week.startsAt, to: week.endsAt },
    final: week.endsAt <= world.now(),
  })
  const read = async (userId: UserId, subject: Subject): Promise<Made | 'missing'> => {
    const [found, rank] = await Promise.all([recaps.closes(userId, subject.query), recaps.rank(userId, subject.query)])
    if (found === null) return 'missing'
    const marks = subject.match === null ? [] : await recaps.marks(found.closes, subject.query.purse)
    return { ...subject, since: found.since, recap: recapOf(found.start, found.closes, marks, found.earlier), rank }
  }
  const make = async (c: Context<SignedInEnv>, subject: Subject): Promise<Made | Unmade> => {
    const { userId } = c.var.caller
    return (await reading.run(userId, c.req.raw.signal, () => read(userId, subject))) ?? 'crowded'
  }
  const made = async (c: Context<SignedInEnv>, id: Parameters<typeof catalogue.match>[0], purse: Purse) => {
    const match = await catalogue.match(id)
    return match === null ? ('missing' as const) : make(c, aboutMatch(match, purse))
  }
  const sendCard = async (c: Context<SignedInEnv>, { title, recap, rank }: Made, type: 'svg' | 'png') => {
    const [best, worst] = await Promise.all([recap.best, recap.worst].map((trade) => callWords(deps, trade)))
    const { userId } = c.var.caller
    const names = await deps.community.careers.names([userId, ...(rank?.passed ?? [])])
    const named = (id: UserId): string => names.get(id)?.username ?? ''
    const passed = (rank?.passed ?? []).map(named)
    const card = { title, username: named(userId), recap, rank, passed, best: best ?? null, worst: worst ?? null }
    const svg = cardOf(card)
    const body = type === 'svg' ? svg : await deps.picture(svg, c.req.raw.signal)
    if (body === null) return fail(c, answerWith('BUSY', { retryAfterSecs: DRAWN_IN_SECS }))
    c.header('Content-Type', type === 'svg' ? 'image/svg+xml' : 'image/png')
    c.header('Content-Disposition', `inline; filename="touchline-recap.${type}"`)
    return c.body(body, 200)
  }

  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...ofMatch, middleware: gates.signedIn }, async (c) => {
      const found = await made(c, c.req.valid('param').matchId, c.req.valid('query').purse)
      return typeof found === 'string' ? fail(c, UNMADE[found]) : c.json(await recapJson(deps, found), 200)
    })
    .openapi({ ...ofWeek, middleware: gates.signedIn }, async (c) => {
      const found = await make(c, aboutWeek(c.req.valid('param').week, c.req.valid('query').purse))
      return typeof found === 'string' ? fail(c, UNMADE[found]) : c.json(await recapJson(deps, found), 200)
    })
    .openapi({ ...matchCard, middleware: gates.signedIn }, async (c) => {
      const { purse, type } = c.req.valid('query')
      const found = await made(c, c.req.valid('param').matchId, purse)
      return typeof found === 'string' ? fail(c, UNMADE[found]) : sendCard(c, found, type)
    })
    .openapi({ ...weekCard, middleware: gates.signedIn }, async (c) => {
      const { purse, type } = c.req.valid('query')
      const found = await make(c, aboutWeek(c.req.valid('param').week, purse))
      return typeof found === 'string' ? fail(c, UNMADE[found]) : sendCard(c, found, type)
    })
}

const nameOf = async ({ catalogue }: TradeDeps, { instrumentId }: ClosedPosition): Promise<string> =>
  (await catalogue.instrument(instrumentId))?.instrument.name ?? 'A former player'

async function callWords(deps: Deps, trade: ClosedPosition | null): Promise<string | null> {
  if (trade === null) return null
  const amount = decimal(trade.close.pnl)
  return `${await nameOf(deps, trade)} ${trade.direction} ${amount < 0 ? '−' : '+'}${Math.abs(amount).toFixed(2)}`
}

/** A close with the largest move of its price while it was open; null for none. */
export async function tradeJson(
  deps: TradeDeps,
  trade: ClosedPosition | null,
): Promise<z.output<typeof RecapTradeBody> | null> {
  if (trade === null) return null
  const { id, instrumentId, direction, lots, openPrice, openedAt, close } = trade
  const [player, moves] = await Promise.all([
    nameOf(deps, trade),
    // One is the move at the close, however small it is.
    deps.history.moves(instrumentId, { after: openedAt, until: close.at, limit: 2 }),
  ])
  const [move] = moves.toSorted((a, b) => Math.abs(b.to - b.from) - Math.abs(a.to - a.from))
  return {
    positionId: id,
    instrumentId,
    player,
    direction,
    lotSize: decimal(lots),
    openPrice: decimal(openPrice),
    closePrice: decimal(close.price),
    openedAt: timestamp(openedAt),
    closedAt: timestamp(close.at),
    pnl: decimal(close.pnl),
    moved:
      move === undefined || move.from === move.to
        ? null
        : {
            at: timestamp(move.at),
            from: decimal(move.from),
            to: decimal(move.to),
            reason: move.reason,
            sentence: `${move.reason.words}: ${percentWords(move.from, move.to)}.`,
          },
  }
}

async function recapJson(deps: Deps, { recap, ...about }: Made): Promise<z.output<typeof RecapBody>> {
  const { start, result, trades, wins, curve } = recap
  const [best, worst] = await Promise.all([tradeJson(deps, recap.best), tradeJson(deps, recap.worst)])
  return {
    purse: about.query.purse,
    matchId: about.match?.matchId ?? null,
    week: about.week?.name ?? null,
    title: about.title,
    from: timestamp(about.since),
    to: timestamp(about.query.to),
    final: about.final,
    start: decimal(start),
    result: decimal(result),
    trades,
    wins,
    curve: curveJson(curve),
    best,
    worst,
    rank:
      about.rank === null
        ? null
        : { before: about.rank.before, after: about.rank.after, passed: await passedIn(deps, about.rank) },
    movers: about.match === null ? [] : await moversJson(deps, about.match),
  }
}

export const curveJson = (curve: Recap['curve']) =>
  curve.map(({ at, value }) => ({ at: timestamp(at), value: decimal(value) }))

async function passedIn({ community }: Deps, { passed }: RankChange): Promise<string[]> {
  const names = await community.careers.names([...passed])
  return passed.flatMap((id) => names.get(id)?.username ?? [])
}

async function moversJson({ catalogue }: Deps, match: MatchInfo): Promise<z.output<typeof MoverBody>[]> {
  const players = new Map(match.squad.map((player) => [player.instrumentId, player]))
  const outcomes = await catalogue.outcomes(match)
  const largest = outcomes.toSorted((a, b) => Math.abs(b.changePpm) - Math.abs(a.changePpm)).slice(0, MOVERS)
  return largest.flatMap(({ instrumentId, from, to }) => {
    const player = players.get(instrumentId)
    if (player === undefined || from === to) return []
    return [{ instrumentId, player: player.name, side: player.side, from: decimal(from), to: decimal(to) }]
  })
}
