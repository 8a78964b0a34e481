/** `GET /api/instruments/{id}/profile`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { decimal } from '../../../actors/kernel/micros.ts'
import type { InstrumentId } from '../../../actors/kernel/ids.ts'
import type { Side } from '../../../actors/market/fixture.ts'
import type { ReportedEvent } from '../../../actors/market/match-report.ts'
import { lastIn } from '../../../actors/market/instrument.ts'
import { eventReason, SEVERAL } from '../../../actors/market/reason-words.ts'
import type { MatchInfo } from '../../../actors/match/messages.ts'
import { errors, fail, type HttpEnv, notFound } from '../../http/answers.ts'
import { INPUT, SIGNED_IN } from '../../http/error-codes.ts'
import { READ_SECURITY, type Gates } from '../../http/gates.ts'
import { InstrumentIdInput } from '../../http/inputs.ts'
import { timestamp } from '../../http/json.ts'
import { sumsJson } from '../../http/move-sums.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'
import { PlayerProfileBody } from './schema.ts'
import type { Beginning, PlayedMatch, PlayerProfiles } from './store.ts'

export interface ProfilePorts {
  readonly profiles: Pick<PlayerProfiles, 'played' | 'next' | 'holders' | 'beginning'>
}

const route = createRoute({
  method: 'get',
  path: '/api/instruments/{id}/profile',
  operationId: 'getPlayerProfile',
  tags: ['Market'],
  summary: 'A player over all matches',
  description:
    'What the price began with and why, what the last matches did to it and why, the next fixture, and who of your friends and leagues holds ' +
    'the player. `GET /api/instruments/{id}/price-history?period=all` has the line.',
  security: READ_SECURITY,
  request: { params: z.object({ id: InstrumentIdInput }) },
  responses: { 200: json(PlayerProfileBody, 'As last committed.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

type Deps = Pick<HttpDeps, 'catalogue' | 'community' | 'world'> & ProfilePorts

export function profileRoutes({ catalogue, community, world, profiles }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const listing = await catalogue.instrument(c.req.valid('param').id)
    if (listing === null) return fail(c, notFound('instrument'))
    const { instrument, match, price } = listing
    const reader = c.var.caller.userId
    const friends = await community.referrals.network(reader)
    const team = match[instrument.side]
    // The teams of a recording play no other match.
    const [played, next, holders, beginning] = await Promise.all([
      profiles.played(instrument.id),
      match.replay ? null : profiles.next(team.id, world.now()),
      profiles.holders({ reader, friends }, instrument.id, match.matchId, world.now()),
      profiles.beginning(instrument.id),
    ])
    const sideIn = (info: MatchInfo): Side =>
      info.squad.find(({ instrumentId }) => instrumentId === instrument.id)?.side ?? instrument.side
    const body: z.output<typeof PlayerProfileBody> = {
      instrumentId: instrument.id,
      name: instrument.name,
      position: instrument.role,
      team: team.name,
      currentPrice: decimal(price),
      start: beginning === null ? null : startJson(beginning),
      matches: played.map((one) => ({
        ...betweenJson(one.info, sideIn(one.info)),
        from: decimal(one.from),
        to: decimal(one.to),
        because: sumsJson(movesOf(one), eventReason),
        did: didIn(one.info, instrument.id),
      })),
      next: next === null ? null : betweenJson(next, next.home.id === team.id ? 'home' : 'away'),
      holders: [...holders],
    }
    return c.json(body, 200)
  })
}

function startJson({ start, anchor, expectedGoals }: Beginning) {
  const last = lastIn(start, anchor)
  const expected = expectedGoals === null ? null : Math.round(expectedGoals * 100) / 100
  return {
    price: decimal(start),
    last: last === null ? null : decimal(last),
    anchor: decimal(anchor),
    expectedGoals: expected,
  }
}

/** What a player did in a match: what was taken back does not count. */
function didIn({ squad, events }: MatchInfo, id: InstrumentId) {
  const player = squad.find(({ instrumentId }) => instrumentId === id)
  const count = (...kinds: ReportedEvent['kind'][]): number =>
    events.filter((one) => one.playerId === player?.playerId && kinds.includes(one.kind) && !one.retracted).length
  return {
    started: player?.starter ?? false,
    goals: count('goal', 'penalty_goal'),
    yellowCards: count('yellow'),
    redCards: count('red', 'second_yellow'),
  }
}

const betweenJson = ({ matchId, startsAt, home, away }: MatchInfo, side: Side) => ({
  matchId,
  startsAt: timestamp(startsAt),
  home: { name: home.name, score: home.goals },
  away: { name: away.name, score: away.goals },
  side,
})

/** The moves with an event, and as one move the rest: play, and orders. */
function movesOf({ from, to, baseBy, told }: PlayedMatch): Parameters<typeof sumsJson>[0] {
  const events = told.map((parts) => {
    const by = parts.byEvent + parts.byMinutes + parts.byStatistics
    return { from: 0, to: by, crowd: 0, parts, reason: SEVERAL, by }
  })
  const byStatistics = events.reduce((rest, { by }) => rest - by, baseBy)
  const play = { event: null, byEvent: 0, byMinutes: 0, byStatistics }
  const rest = {
    from: 0,
    to: to - from - baseBy + byStatistics,
    crowd: to - from - baseBy,
    parts: play,
    reason: SEVERAL,
  }
  return [...events, rest]
}
