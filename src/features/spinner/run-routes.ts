/** `POST /api/spinner/run`. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { fail, type HttpEnv } from '../../http/answers.ts'
import { CHANGE, SIGNED_IN } from '../../http/error-codes.ts'
import { TRADE_SECURITY, type Gates } from '../../http/gates.ts'
import { spinnerErrors } from './errors.ts'
import { json } from '../../http/schemas.ts'
import { type SpinnerPorts, WeekBody, weekJson } from './week.ts'

const route = createRoute({
  method: 'post',
  path: '/api/spinner/run',
  operationId: 'runSpinner',
  tags: ['Spinner'],
  summary: 'Decide the last finished week',
  description:
    'The best ROI of the week wins, equal ones by win rate, among users who closed at least 10 of the positions they ' +
    'opened in the week, on at least 3 players (settings `spinner.closes_min`, `spinner.players_min`). A tie is decided ' +
    'by HMAC-SHA256 over the week, the candidates and the base prices at which the last live match of the week settled, ' +
    'keyed with the seed whose hash was published before the week ended. No seed is made after that: without one a tie ' +
    'has no winner. A second call changes nothing and gets the same answer. 409 while positions opened in the week are still ' +
    'open, or their closes are being processed.',
  security: TRADE_SECURITY,
  responses: {
    200: json(WeekBody, 'Decided.'),
    ...spinnerErrors.responses(...SIGNED_IN, ...CHANGE, 'WEEK_NOT_COUNTED'),
  },
})

export function runSpinner({ spinner, tell }: SpinnerPorts, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const outcome = await spinner.run()
    if (outcome.kind === 'counting')
      return fail(c, spinnerErrors.answer('WEEK_NOT_COUNTED', { retryAfterSecs: outcome.retryAfterSecs }))
    tell(outcome.notifications)
    return c.json(weekJson(outcome.week), 200)
  })
}
