/** A league as the API shows it. */
import { z } from '@hono/zod-openapi'
import { decimal, type Money } from '../../../actors/kernel/micros.ts'
import type { Instant } from '../../../actors/kernel/world.ts'
import type { League, OwnLeague } from './store.ts'
import { leagueIdText } from './id-schema.ts'
import { leagueUrl } from './share.ts'
import { nextCursor } from '../../http/cursors.ts'
import { timestamp } from '../../http/json.ts'
import { timestampText, userIdText, usernameText } from '../../http/schemas.ts'

export const seasonIdText = z.string().openapi({ description: 'A month in UTC.', example: '2026-11' })
export const divisionNumber = z.int().openapi({ description: 'From 1, the highest, to 5.', example: 5 })

/** What a user with the code of a league sees. */
const outline = {
  name: z.string().openapi({ example: 'Harbour Friends' }),
  kind: z.enum(['private', 'season', 'tournament']).openapi({
    description: 'The server runs seasons and tournaments. Only a private league is joined by a code, and can be left.',
    example: 'private',
  }),
  founder: usernameText
    .nullable()
    .openapi({ description: 'The user who invites; null for a season or tournament.', example: 'grace_h' }),
  season: z
    .object({
      id: seasonIdText,
      division: divisionNumber,
      group: z.int().openapi({ description: 'Each division has groups of at most 50.', example: 12 }),
    })
    .nullable()
    .openapi({ description: 'Which group of which season it is; null unless it is one.', example: null }),
  startsAt: timestampText,
  endsAt: timestampText,
  startingBalance: z.number().openapi({ description: 'Units.', example: 10_000 }),
  matches: z.enum(['all', 'practice', 'tournaments', 'chosen']).openapi({
    description:
      '`all`: every match of the main game. `practice`: those for practice. `tournaments`: those of tournaments, which ' +
      'nobody can know. `chosen`: those of `matchIds`.',
    example: 'all',
  }),
  matchIds: z.array(z.int()).openapi({ description: 'Empty unless `matches` is `chosen`.', example: [] }),
  members: z.int().openapi({ description: 'Who takes part now.', example: 8 }),
  state: z.enum(['upcoming', 'running', 'ended', 'decided']).openapi({
    description: '`ended`: nothing can be opened; the table is final once it is `decided`.',
    example: 'running',
  }),
}
export const LeagueOutlineBody = z.object(outline).openapi('LeagueOutline')

export const LeagueBody = z
  .object({
    ...outline,
    id: leagueIdText,
    code: z
      .string()
      .nullable()
      .openapi({ description: 'For those who are to join; null unless it is private.', example: '9f2c4b7d01ae' }),
    url: z.string().nullable().openapi({
      description: "The link to share. A path on the page's own host if `CORS_ORIGINS` is empty.",
      example: 'https://play.touchline.example/league/9f2c4b7d01ae',
    }),
    joinedAt: timestampText,
    decidedAt: timestampText.nullable(),
  })
  .openapi('League')

const memberFields = {
  rank: z.int().openapi({ description: 'Equals share a rank.', example: 2 }),
  userId: userIdText,
  username: usernameText,
  isMe: z.boolean().openapi({ example: false }),
}

export const LeaguePlaceBody = z
  .object({
    ...memberFields,
    value: z.number().openapi({
      description: 'Units if all positions closed now; the result once the league is decided.',
      example: 10_420.5,
    }),
    gainPct: z.number().openapi({ description: 'Gain in % of the start.', example: 4.205 }),
    openPositions: z.int().openapi({ example: 1 }),
  })
  .openapi('LeaguePlace')

export const LeagueTableBody = z
  .object({
    league: LeagueBody,
    total: z.int().openapi({ example: 8 }),
    entries: z.array(LeaguePlaceBody),
    me: LeaguePlaceBody,
    nextCursor,
  })
  .openapi('LeagueTable')

export const LeagueMatchPlaceBody = z
  .object({
    ...memberFields,
    pnl: z.number().openapi({ description: 'Units, of the positions that they closed in the match.', example: 120.25 }),
    closed: z.int().openapi({ description: 'How many.', example: 3 }),
  })
  .openapi('LeagueMatchPlace')

const stateOf = (league: League, now: Instant): z.output<typeof LeagueBody>['state'] => {
  if (league.decidedAt !== null) return 'decided'
  if (now < league.startsAt) return 'upcoming'
  return now < league.endsAt ? 'running' : 'ended'
}

export const outlineJson = (league: League, now: Instant): z.output<typeof LeagueOutlineBody> => ({
  name: league.name,
  kind: league.kind,
  founder: league.founder,
  season: league.season,
  startsAt: timestamp(league.startsAt),
  endsAt: timestamp(league.endsAt),
  startingBalance: decimal(league.startingBalance),
  matches: typeof league.matches === 'string' ? league.matches : 'chosen',
  matchIds: typeof league.matches === 'string' ? [] : [...league.matches],
  members: league.members,
  state: stateOf(league, now),
})

export const leagueJson = (
  league: OwnLeague,
  now: Instant,
  origins: readonly string[],
): z.output<typeof LeagueBody> => ({
  ...outlineJson(league, now),
  id: league.id,
  code: league.kind === 'private' ? league.code : null,
  url: league.kind === 'private' ? leagueUrl(origins, league.code) : null,
  joinedAt: timestamp(league.joinedAt),
  decidedAt: league.decidedAt === null ? null : timestamp(league.decidedAt),
})

/** A gain over what all began with, in per cent with four decimals. */
export const gainPct = (value: Money, start: Money): number => Math.round(((value - start) / start) * 1e6) / 1e4
