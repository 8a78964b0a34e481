/** The weekly spinner (specification 4.4): who leads, who has won, and the proof that the draw was decided beforehand. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { PPM } from '../../../actors/community/ranking.ts'
import type { Candidate, SpinnerWeek } from '../../../db/spinner.ts'
import { answerWith, errors, fail } from '../answers.ts'
import { CHANGE, INPUT, SIGNED_IN } from '../error-codes.ts'
import { ACCESS_SECURITY, type Gates, type SignedInEnv } from '../gates.ts'
import { timestamp } from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import { json, timestampText } from '../schemas.ts'

const CandidateBody = z
  .object({
    userId: z.uuid(),
    username: z.string(),
    districtId: z.int(),
    roiPct: z.number().openapi({ description: 'Of the week, to two decimals.' }),
    winRate: z.number(),
    trades: z.int(),
  })
  .openapi('SpinnerCandidate')

const WeekBody = z
  .object({
    week: z.string().openapi({ description: 'ISO week, Monday 00:00 UTC to the next.', example: '2026-W21' }),
    startsAt: timestampText,
    endsAt: timestampText,
    status: z.enum(['open', 'tied', 'decided']).openapi({ description: 'Tied: two or more lead alike.' }),
    winner: CandidateBody.optional().openapi({ description: 'Once decided, if anybody traded.' }),
    candidates: z.array(CandidateBody).openapi({ description: 'Those who lead, or among whom was drawn.' }),
    seedHash: z.string().openapi({ description: 'SHA-256 of the seed, published before the week is over.' }),
    publishedAt: timestampText,
    seed: z
      .string()
      .optional()
      .openapi({ description: 'Once decided; `npm run ops -- spinner-verify` checks the draw.' }),
    decidedAt: timestampText.optional(),
  })
  .openapi('SpinnerWeek')

const current = createRoute({
  method: 'get',
  path: '/api/spinner/current',
  tags: ['Spinner'],
  summary: 'The week that runs, with its leader or tied candidates, and the one before it',
  description:
    'The hash of the seed is public from before the week is over, so that nobody can choose a seed to fit the ' +
    'candidates.',
  security: ACCESS_SECURITY,
  responses: {
    200: json(z.object({ ...WeekBody.shape, previous: WeekBody.nullable() }), 'As of now.'),
    ...errors(...SIGNED_IN),
  },
})

const history = createRoute({
  method: 'get',
  path: '/api/spinner/history',
  tags: ['Spinner'],
  summary: 'Decided weeks, the latest first',
  description: 'With the seed and the candidates of each week, from which anybody can repeat the draw.',
  security: ACCESS_SECURITY,
  request: { query: z.object({ limit: z.coerce.number().int().min(1).max(100).default(12) }) },
  responses: {
    200: json(z.object({ weeks: z.array(WeekBody) }), 'With their seeds.'),
    ...errors(...SIGNED_IN, ...INPUT),
  },
})

const run = createRoute({
  method: 'post',
  path: '/api/spinner/run',
  tags: ['Spinner'],
  summary: 'Decide the last week that is over',
  description:
    'The best ROI of the week wins, equal ones by win rate; who is still equal is drawn by HMAC-SHA256, keyed with the ' +
    'seed whose hash was published before, over the week and the candidates. Calling it again changes nothing and ' +
    'returns the same. 409 while the last closes of the week are still being counted.',
  security: ACCESS_SECURITY,
  responses: { 200: json(WeekBody, 'Decided.'), ...errors(...SIGNED_IN, ...CHANGE, 'WEEK_NOT_COUNTED') },
})

export function spinnerRoutes({ community: { spinner, tell } }: Pick<HttpDeps, 'community'>, gates: Gates) {
  return new OpenAPIHono<SignedInEnv>()
    .openapi({ ...current, middleware: gates.signedIn }, async (c) => {
      const [week, previous] = await Promise.all([spinner.current(), spinner.previous()])
      return c.json({ ...weekJson(week), previous: previous === null ? null : weekJson(previous) }, 200)
    })
    .openapi({ ...history, middleware: gates.signedIn }, async (c) => {
      const weeks = await spinner.history(c.req.valid('query').limit)
      return c.json({ weeks: weeks.map(weekJson) }, 200)
    })
    .openapi({ ...run, middleware: gates.signedIn }, async (c) => {
      const outcome = await spinner.run()
      if (outcome.kind === 'counting')
        return fail(c, answerWith('WEEK_NOT_COUNTED', { retryAfterSecs: outcome.retryAfterSecs }))
      tell(outcome.notifications)
      return c.json(weekJson(outcome.week), 200)
    })
}

const candidateJson = (candidate: Candidate): z.output<typeof CandidateBody> => ({
  userId: candidate.userId,
  username: candidate.username,
  districtId: Number(candidate.districtId),
  roiPct: candidate.roiHundredths / 100,
  winRate: candidate.winPpm / PPM,
  trades: candidate.closed,
})

const weekJson = (week: SpinnerWeek): z.output<typeof WeekBody> => ({
  week: week.name,
  startsAt: timestamp(week.startsAt),
  endsAt: timestamp(week.endsAt),
  status: week.status,
  candidates: week.candidates.map(candidateJson),
  seedHash: week.seedHash,
  publishedAt: timestamp(week.publishedAt),
  ...(week.winner === null ? {} : { winner: candidateJson(week.winner) }),
  ...(week.seed === null ? {} : { seed: week.seed }),
  ...(week.decidedAt === null ? {} : { decidedAt: timestamp(week.decidedAt) }),
})
