/** `POST /api/auth/google`: signing in with the identity provider (specification 3.1). */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { unreachable } from '../../../../actors/kernel/assert.ts'
import { answerWith, errors, fail, type HttpEnv } from '../../answers.ts'
import { BODY } from '../../error-codes.ts'
import { type Gates, PUBLIC_SECURITY } from '../../gates.ts'
import { fieldsBody } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { Queue, QUEUE_FULL, SIGN_INS } from '../../queue.ts'
import { json } from '../../schemas.ts'
import { UserBody } from '../../user-schema.ts'
import {
  cancelled,
  DeletionCancelled,
  failSignIn,
  openSession,
  secondsUntil,
  type SessionDeps,
} from './registration.ts'

const route = createRoute({
  method: 'post',
  path: '/api/auth/google',
  tags: ['Sign-in'],
  summary: 'Sign in with a token of the identity provider',
  description:
    'Signs in a registered user. Anyone else gets 422 with a registration ticket for the next steps, and a one-time ' +
    'code by e-mail. A nonce is valid for one sign-in, and remembered for 300 seconds; a refused token does not ' +
    'consume it. A token is valid once, until it expires. At most 20 a minute per address.',
  request: {
    body: fieldsBody({
      idToken: z.string().min(1).max(8_192).openapi({
        example: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl',
      }),
      nonce: z.string().min(1).openapi({
        description: 'The `nonce` that the token was requested with.',
        example: 'n-0S6_WzA2Mj',
      }),
    }),
  },
  security: PUBLIC_SECURITY,
  responses: {
    200: json(
      z.object({ user: UserBody, isNew: z.literal(false), deletionCancelled: DeletionCancelled }),
      'Signed in: both session cookies are set.',
    ),
    ...errors(...BODY, 'INVALID_IDENTITY_TOKEN', 'NONCE_ALREADY_USED', 'NEEDS_PROFILE'),
  },
})

const PER_MINUTE = 20

type Deps = SessionDeps & Pick<HttpDeps, 'signIn'>

export function signInWithGoogle(deps: Deps, gates: Gates) {
  const queue = new Queue(SIGN_INS)
  const signIn = async (c: Context<HttpEnv>, idToken: string, nonce: string) => {
    const begun = await deps.signIn.begin(idToken, nonce)
    switch (begun.kind) {
      case 'invalid_token':
        return failSignIn(c, answerWith('INVALID_IDENTITY_TOKEN'), deps)
      case 'nonce_used':
        return failSignIn(c, answerWith('NONCE_ALREADY_USED'), deps)
      case 'signed_in':
        return c.json(
          {
            user: await openSession(c, begun.user, deps, { authenticatedAt: begun.authenticatedAt }),
            isNew: false as const,
            ...cancelled(begun),
          },
          200,
        )
      case 'new': {
        const { email, name, picture } = begun.identity
        const resendInSecs = secondsUntil(begun.nextCodeInMs)
        const facts = {
          needsProfile: true,
          registrationTicket: begun.ticket,
          email,
          name,
          picture,
          resendInSecs,
        } as const
        return fail(c, answerWith('NEEDS_PROFILE', { facts }))
      }
      default:
        return unreachable(begun)
    }
  }
  const middleware = gates.limited('google', PER_MINUTE)
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware }, async (c) => {
    const { idToken, nonce } = c.req.valid('json')
    return (await queue.run(c.req.raw.signal, () => signIn(c, idToken, nonce))) ?? fail(c, QUEUE_FULL)
  })
}
