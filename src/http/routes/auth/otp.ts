/** `POST /api/auth/verify-otp` and `/resend-otp`: proving an e-mail address with a one-time code. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { unreachable } from '../../../../actors/kernel/assert.ts'
import { CODE_PAUSE_MS } from '../../../../actors/kernel/limits.ts'
import { SECOND_MS } from '../../../../actors/kernel/world.ts'
import { answerWith, errors, fail, type HttpEnv } from '../../answers.ts'
import { BODY } from '../../error-codes.ts'
import { type Gates, PUBLIC_SECURITY } from '../../gates.ts'
import { fieldsBody } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { failSignIn, secondsUntil, TicketInput } from './registration.ts'

const verify = createRoute({
  method: 'post',
  path: '/api/auth/verify-otp',
  tags: ['Sign-in'],
  summary: 'Verify the e-mail address with the code that was sent there',
  description:
    'A code is valid for 5 minutes and 3 tries. The code that was right may be sent again for a minute, with the same ' +
    'answer, in case the first one was lost. At most 10 requests a minute per address.',
  request: {
    body: fieldsBody({
      registrationTicket: TicketInput,
      otp: z
        .string()
        .regex(/^\d{6}$/, 'must be six digits')
        .openapi({ example: '042137' }),
    }),
  },
  security: PUBLIC_SECURITY,
  responses: {
    200: json(z.object({ verified: z.literal(true) }), 'Verified, until the ticket expires.'),
    ...errors(...BODY, 'INVALID_REGISTRATION_TICKET', 'INVALID_CODE', 'CODE_EXPIRED', 'TOO_MANY_ATTEMPTS'),
  },
})

const resend = createRoute({
  method: 'post',
  path: '/api/auth/resend-otp',
  tags: ['Sign-in'],
  summary: 'Send another code',
  description:
    'The previous code becomes invalid. 429 with `Retry-After` within a minute of the last code. At most 5 requests ' +
    'a minute per address.',
  request: { body: fieldsBody({ registrationTicket: TicketInput }) },
  security: PUBLIC_SECURITY,
  responses: {
    200: json(
      z.object({
        sent: z.literal(true),
        resendInSecs: z.int().openapi({ description: 'Seconds until another code can be requested.', example: 60 }),
      }),
      'Sent.',
    ),
    ...errors(...BODY, 'INVALID_REGISTRATION_TICKET', 'RESEND_TOO_SOON'),
  },
})

const VERIFY_PER_MINUTE = 10
const RESEND_PER_MINUTE = 5

export function verifyEmail(deps: Pick<HttpDeps, 'signIn' | 'security' | 'limits'>, gates: Gates) {
  const { signIn } = deps
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...verify, middleware: gates.limited('verify-otp', VERIFY_PER_MINUTE) }, async (c) => {
      const { registrationTicket, otp } = c.req.valid('json')
      const guess = await signIn.checkCode(registrationTicket, otp)
      switch (guess.kind) {
        case 'right':
          return c.json({ verified: true as const }, 200)
        case 'invalid_ticket':
          return failSignIn(c, answerWith('INVALID_REGISTRATION_TICKET'), deps)
        case 'expired':
          return failSignIn(c, answerWith('CODE_EXPIRED'), deps)
        case 'wrong': {
          const { attemptsRemaining } = guess
          return failSignIn(c, answerWith('INVALID_CODE', { facts: { attemptsRemaining } }), deps)
        }
        case 'exhausted': {
          const retryAfterSecs = CODE_PAUSE_MS / SECOND_MS // by then another code can be requested
          return failSignIn(c, answerWith('TOO_MANY_ATTEMPTS', { retryAfterSecs }), deps)
        }
        default:
          return unreachable(guess)
      }
    })
    .openapi({ ...resend, middleware: gates.limited('resend-otp', RESEND_PER_MINUTE) }, async (c) => {
      const resent = await signIn.resendCode(c.req.valid('json').registrationTicket)
      if (resent.kind === 'invalid_ticket') return failSignIn(c, answerWith('INVALID_REGISTRATION_TICKET'), deps)
      const inSecs = secondsUntil(resent.nextInMs)
      if (resent.kind === 'sent') return c.json({ sent: true as const, resendInSecs: inSecs }, 200)
      return fail(c, answerWith('RESEND_TOO_SOON', { retryAfterSecs: inSecs }))
    })
}
