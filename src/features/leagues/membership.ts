/** `POST /api/leagues`, `POST /api/leagues/join`, `POST /api/leagues/{id}/leave`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { LEAGUES_MAX, MEMBERS_MAX, STARTING_BALANCE } from '../../../actors/kernel/limits.ts'
import { decimal, money } from '../../../actors/kernel/micros.ts'
import type { UserId } from '../../../actors/kernel/ids.ts'
import { DAY_MS, instant } from '../../../actors/kernel/world.ts'
import { leagueErrors } from './errors.ts'
import type { Joined, League, Leagues } from './store.ts'
import { answerWith, fail, type HttpEnv, notFound } from '../../http/answers.ts'
import { BODY, CHANGE, INPUT, SIGNED_IN } from '../../http/error-codes.ts'
import { TRADE_SECURITY, type Gates, type SignedInEnv } from '../../http/gates.ts'
import { decimalInput, fieldsBody, FixtureNumberInput, LeagueIdInput, LineInput, timeInput } from '../../http/inputs.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'
import { LeagueBody, leagueJson } from './schema.ts'

const MATCHES_MAX = 64
const DAYS_MAX = 400
const CODE_LENGTH_MAX = 64

const NewLeague = fieldsBody({
  name: LineInput.openapi({ example: 'Harbour Friends' }),
  startsAt: timeInput.optional().openapi({ description: 'From when positions can be opened; absent for now.' }),
  endsAt: timeInput.openapi({
    description: `Until when. At most ${DAYS_MAX} days from now.`,
    example: '2026-06-01T00:00:00.000Z',
  }),
  startingBalance: decimalInput(money, z.number().min(100).max(1_000_000))
    .prefault(decimal(STARTING_BALANCE))
    .openapi({ description: 'What each member begins with, in units.', example: 10_000 }),
  matches: z
    .union([z.enum(['all', 'practice', 'tournaments']), z.array(FixtureNumberInput).min(1).max(MATCHES_MAX)])
    .openapi({
      description: 'Every match of the main game, every one for practice, those of tournaments, or these, by id.',
      example: 'all',
    }),
})

const found = createRoute({
  method: 'post',
  path: '/api/leagues',
  operationId: 'foundLeague',
  tags: ['Leagues'],
  summary: 'Found a private league and join it',
  description:
    'A league has a purse of its own, named by its id: `purse` in `POST /api/positions/open` trades with it, at the base ' +
    'price and without moving any price. What happens there counts nowhere else. Anyone with the `code` can join. A user ' +
    `takes part in at most ${LEAGUES_MAX} leagues at a time.`,
  security: TRADE_SECURITY,
  request: { body: NewLeague },
  responses: {
    201: json(LeagueBody, 'Founded.'),
    ...leagueErrors.responses(...SIGNED_IN, ...BODY, 'NOT_FOUND', 'LEAGUE_LIMIT'),
  },
})

const join = createRoute({
  method: 'post',
  path: '/api/leagues/join',
  operationId: 'joinLeague',
  tags: ['Leagues'],
  summary: 'Join the league of a code',
  description:
    'Gives the caller a wallet with the starting balance of the league, once: a user who left and joins again ' +
    'continues with the wallet they had. A repetition changes nothing.',
  security: TRADE_SECURITY,
  request: {
    body: fieldsBody({
      code: z.string().trim().toLowerCase().min(1).max(CODE_LENGTH_MAX).openapi({ example: '9f2c4b7d01ae' }),
    }),
  },
  responses: {
    200: json(LeagueBody, 'The caller is a member.'),
    ...leagueErrors.responses(...SIGNED_IN, ...BODY, 'NOT_FOUND', 'LEAGUE_LIMIT', 'LEAGUE_FULL', 'LEAGUE_OVER'),
  },
})

const leave = createRoute({
  method: 'post',
  path: '/api/leagues/{id}/leave',
  operationId: 'leaveLeague',
  tags: ['Leagues'],
  summary: 'Leave a league',
  description:
    'Its table continues without the caller. Their positions stay open until they or the match close them; no new ' +
    'one can be opened. The results of a decided league stay.',
  security: TRADE_SECURITY,
  request: { params: z.object({ id: LeagueIdInput }) },
  responses: {
    200: json(z.object({ left: z.literal(true) }), 'Left.'),
    ...leagueErrors.responses(...SIGNED_IN, ...INPUT, ...CHANGE, 'NOT_FOUND', 'LEAGUE_OVER', 'LEAGUE_KEEPS_MEMBERS'),
  },
})

interface Deps extends Pick<HttpDeps, 'corsOrigins' | 'world'> {
  readonly leagues: Pick<Leagues, 'found' | 'join' | 'leave' | 'find'>
}

export function leagueMembership({ leagues, corsOrigins, world }: Deps, gates: Gates) {
  const shown = async (user: UserId, joined: Extract<Joined, { kind: 'joined' }>) => {
    const league = await leagues.find(user, joined.league)
    return league === null ? null : leagueJson(league, world.now(), corsOrigins)
  }
  const tooMany = (c: Context<SignedInEnv>) =>
    fail(c, leagueErrors.answer('LEAGUE_LIMIT', { facts: { maxLeagues: LEAGUES_MAX } }))
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...found, middleware: gates.signedIn }, async (c) => {
      const now = world.now()
      const { startsAt = now, ...wanted } = c.req.valid('json')
      const league = { ...wanted, startsAt }
      const issue = problemOf(league, now)
      if (issue !== null) return fail(c, answerWith('VALIDATION_FAILED', { facts: { issues: [issue] } }))
      const { userId } = c.var.caller
      const made = await leagues.found(userId, league)
      if (made.kind !== 'joined') return tooMany(c)
      const body = await shown(userId, made)
      return body === null ? fail(c, notFound('league')) : c.json(body, 201)
    })
    .openapi({ ...join, middleware: gates.signedIn }, async (c) => {
      const { userId } = c.var.caller
      const made = await leagues.join(userId, c.req.valid('json').code)
      if (made.kind === 'too_many') return tooMany(c)
      if (made.kind === 'full')
        return fail(c, leagueErrors.answer('LEAGUE_FULL', { facts: { maxMembers: MEMBERS_MAX } }))
      if (made.kind === 'over') return fail(c, leagueErrors.answer('LEAGUE_OVER'))
      const body = made.kind === 'joined' ? await shown(userId, made) : null
      return body === null ? fail(c, notFound('league')) : c.json(body, 200)
    })
    .openapi({ ...leave, middleware: gates.signedIn }, async (c) => {
      const { userId } = c.var.caller
      const { id } = c.req.valid('param')
      if (await leagues.leave(userId, id)) return c.json({ left: true as const }, 200)
      const league = await leagues.find(userId, id)
      if (league === null) return fail(c, notFound('league'))
      return fail(c, leagueErrors.answer(league.kind === 'private' ? 'LEAGUE_OVER' : 'LEAGUE_KEEPS_MEMBERS'))
    })
}

/** What is wrong with the times of a league, or null. */
function problemOf({ startsAt, endsAt }: Pick<League, 'startsAt' | 'endsAt'>, now: number) {
  if (endsAt <= startsAt) return { path: 'endsAt', message: 'must be after startsAt' }
  if (endsAt <= now) return { path: 'endsAt', message: 'must be in the future' }
  if (endsAt > now + DAYS_MAX * DAY_MS) return { path: 'endsAt', message: `must be within ${DAYS_MAX} days` }
  return startsAt < instant(now - DAY_MS) ? { path: 'startsAt', message: 'must not be more than a day ago' } : null
}
