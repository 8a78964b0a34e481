/** `POST /api/auth/google`: signing in with the identity provider (specification 3.1). */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { unreachable } from '../../../../actors/kernel/assert.ts'
import { errors, type HttpEnv } from '../../answers.ts'
import { BODY, ERROR_CODES } from '../../error-codes.ts'
import { type Gates, PUBLIC_SECURITY } from '../../gates.ts'
import { jsonBody } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { UserBody } from '../../user-schema.ts'
import {
  cancelled,
  DeletionCancelled,
  failSignIn,
  openSession,
  secondsUntil,
  type SessionDeps,
  TICKET_EXAMPLE,
} from './registration.ts'
import { strictBody } from '../../unknown-names.ts'

const NeedsProfile = z.object({
  error: z.string().openapi({ example: ERROR_CODES.NEEDS_PROFILE.error }),
  code: z.literal('NEEDS_PROFILE'),
  requestId: z.string().openapi({ example: '0197f2a0-77aa-7b31-9d44-5c6d7e8f9a0b' }),
  needsProfile: z.literal(true),
  registrationTicket: z.string().openapi({
    description: 'Stands for the account in the next steps.',
    example: TICKET_EXAMPLE,
  }),
  email: z.string().openapi({ example: 'ada@touchline.example' }),
  name: z.string().openapi({ example: 'Ada Lovell' }),
  picture: z.string().nullable().openapi({ example: 'https://pictures.touchline.example/ada.jpg' }),
  resendInSecs: z.int().openapi({ description: 'Seconds until another code can be requested.', example: 60 }),
})

const route = createRoute({
  method: 'post',
  path: '/api/auth/google',
  tags: ['Sign-in'],
  summary: 'Sign in with a token of the identity provider',
  description:
    'Signs in a registered user. Anyone else gets 422 with a registration ticket for the next steps, and a one-time ' +
    'code by e-mail. A nonce is valid for one sign-in; a refused token does not consume it. A token is ' +
    'valid once, and for 300 seconds. At most 20 a minute ' +
    'per address.',
  request: {
    body: jsonBody(
      strictBody({
        idToken: z.string().min(1).max(8_192).openapi({
          example: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl',
        }),
        nonce: z.string().min(1).max(255).openapi({
          description: 'The `nonce` that the token was requested with.',
          example: 'n-0S6_WzA2Mj',
        }),
      }),
    ),
  },
  security: PUBLIC_SECURITY,
  responses: {
    200: json(
      z.object({ user: UserBody, isNew: z.literal(false), deletionCancelled: DeletionCancelled }),
      'Signed in: both session cookies are set.',
    ),
    422: json(NeedsProfile, 'Not registered yet. A one-time code was sent to `email`.'),
    ...errors(...BODY, 'INVALID_IDENTITY_TOKEN', 'NONCE_ALREADY_USED', 'EMAIL_IN_USE'),
  },
})

const PER_MINUTE = 20

type Deps = SessionDeps & Pick<HttpDeps, 'signIn'>

export function signInWithGoogle(deps: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi(
    { ...route, middleware: gates.limited('google', PER_MINUTE) },
    async (c) => {
      const { idToken, nonce } = c.req.valid('json')
      const begun = await deps.signIn.begin(idToken, nonce)
      switch (begun.kind) {
        case 'invalid_token':
          return failSignIn(c, 'INVALID_IDENTITY_TOKEN', deps)
        case 'nonce_used':
          return failSignIn(c, 'NONCE_ALREADY_USED', deps)
        case 'email_in_use':
          return failSignIn(c, 'EMAIL_IN_USE', deps)
        case 'signed_in':
          return c.json(
            { user: await openSession(c, begun.user, deps), isNew: false as const, ...cancelled(begun) },
            200,
          )
        case 'new': {
          const { email, name, picture } = begun.identity
          return c.json(
            {
              error: ERROR_CODES.NEEDS_PROFILE.error,
              code: 'NEEDS_PROFILE' as const,
              requestId: c.var.requestId,
              needsProfile: true as const,
              registrationTicket: begun.ticket,
              email,
              name,
              picture,
              resendInSecs: secondsUntil(begun.nextCodeInMs),
            },
            422,
          )
        }
        default:
          return unreachable(begun)
      }
    },
  )
}
