/** Signing in with the identity provider, and registering step by step (specification 3.1 and 4.1). */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { unreachable, present } from '../../../actors/kernel/assert.ts'
import { CODE_PAUSE_MS } from '../../../actors/kernel/limits.ts'
import { SECOND_MS } from '../../../actors/kernel/world.ts'
import { usernameFlaw } from '../../../actors/community/registration.ts'
import type { User } from '../../../db/users.ts'
import { answerWith, errors, fail, type HttpEnv, invalid } from '../answers.ts'
import { BODY, ERROR_CODES } from '../error-codes.ts'
import { userJson } from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import type { RateLimits } from '../rate-limits.ts'
import { DistrictIdInput, json, LineInput, UserBody } from '../schemas.ts'
import { setSession } from '../session-cookies.ts'

const Ticket = z.string().min(1).max(4_096).openapi({ description: 'As `POST /api/auth/google` gave it.' })

const body = <Schema extends z.ZodType>(schema: Schema) => ({
  body: { required: true, content: { 'application/json': { schema } } },
})

const google = createRoute({
  method: 'post',
  path: '/api/auth/google',
  tags: ['Sign-in'],
  summary: 'Sign in with a token of the identity provider',
  description:
    'Whoever has registered is signed in. Whoever has not gets 422 with a ticket that stands for his account through the ' +
    'next steps, and a code by mail. A nonce is good once; a token that is refused leaves it unused.',
  request: body(
    z.object({
      idToken: z.string().min(1).max(8_192),
      nonce: z.string().min(1).max(255).openapi({ description: 'The `nonce` that the token was asked for with.' }),
    }),
  ),
  responses: {
    200: json(z.object({ user: UserBody, isNew: z.literal(false) }), 'Signed in: both session cookies are set.'),
    422: json(
      z.object({
        error: z.string(),
        code: z.literal('NEEDS_PROFILE'),
        requestId: z.string(),
        needsProfile: z.literal(true),
        registrationTicket: z.string(),
        email: z.string(),
        name: z.string(),
        picture: z.string().nullable(),
        resendInSecs: z.int().openapi({ description: 'How soon another code can be asked for.' }),
      }),
      'Not registered yet: a code is on its way to `email`.',
    ),
    ...errors(...BODY, 'INVALID_IDENTITY_TOKEN', 'NONCE_ALREADY_USED'),
  },
})

const verifyOtp = createRoute({
  method: 'post',
  path: '/api/auth/verify-otp',
  tags: ['Sign-in'],
  summary: 'Prove the e-mail with the code that was sent there',
  description: 'A code is good for 5 minutes and three guesses, right or wrong.',
  request: body(
    z.object({
      registrationTicket: Ticket,
      otp: z
        .string()
        .regex(/^\d{6}$/, 'must be six digits')
        .openapi({ example: '042137' }),
    }),
  ),
  responses: {
    200: json(z.object({ verified: z.literal(true) }), 'Proved, for as long as the ticket lasts.'),
    ...errors(...BODY, 'INVALID_REGISTRATION_TICKET', 'INVALID_CODE', 'CODE_EXPIRED', 'TOO_MANY_ATTEMPTS'),
  },
})

const resendOtp = createRoute({
  method: 'post',
  path: '/api/auth/resend-otp',
  tags: ['Sign-in'],
  summary: 'Another code',
  description: 'The one before counts no more. 429 with `Retry-After` within a minute of the last.',
  request: body(z.object({ registrationTicket: Ticket })),
  responses: {
    200: json(z.object({ sent: z.literal(true), resendInSecs: z.int() }), 'On its way.'),
    ...errors(...BODY, 'INVALID_REGISTRATION_TICKET', 'RESEND_TOO_SOON'),
  },
})

const Profile = z.object({
  registrationTicket: Ticket,
  username: z
    .string()
    .refine((name) => usernameFlaw(name) === null, {
      error: 'must be 3 to 20 of a-z, 0-9 and _, begin with a letter, and not be reserved',
    })
    .openapi({ pattern: '^[a-z][a-z0-9_]{2,19}$' }),
  firstName: LineInput,
  lastName: LineInput.nullish(),
  districtId: DistrictIdInput.openapi({ example: 1 }),
  referralCode: LineInput.nullish(),
})

const complete = createRoute({
  method: 'post',
  path: '/api/auth/google/complete',
  tags: ['Sign-in'],
  summary: 'Register: the profile step',
  description:
    'Makes the user with a wallet of 10,000 units, and whose invitation it was, or nothing at all. E-mail, name and ' +
    'picture come from the ticket. Repeated with the same ticket it signs in the user it has made.',
  request: body(Profile),
  responses: {
    200: json(z.object({ user: UserBody, isNew: z.boolean() }), 'Signed in: both session cookies are set.'),
    ...errors(...BODY, 'INVALID_REGISTRATION_TICKET', 'EMAIL_NOT_VERIFIED', 'USERNAME_TAKEN'),
  },
})

const INVALID_TICKET = answerWith('INVALID_REGISTRATION_TICKET')

const secondsUntil = (ms: number): number => Math.max(1, Math.ceil(ms / SECOND_MS))

export type SignInDeps = Pick<HttpDeps, 'signIn' | 'sessions' | 'wallets' | 'cookies'>

export function signInRoutes({ signIn, sessions, wallets, cookies }: SignInDeps, limits: RateLimits) {
  const openSession = async (c: Parameters<typeof setSession>[0], user: User) => {
    const [[tokens], wallet] = await Promise.all([sessions.start([user]), wallets.find(user.id)])
    setSession(c, { tokens: present(tokens, 'the session of a user'), lifetimes: sessions.lifetimes, cookies })
    return userJson(user, present(wallet, 'the wallet of a user who just signed in'))
  }

  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...google, middleware: limits.perRoute('google') }, async (c) => {
      const { idToken, nonce } = c.req.valid('json')
      const begun = await signIn.begin(idToken, nonce)
      switch (begun.kind) {
        case 'invalid_token':
          return fail(c, answerWith('INVALID_IDENTITY_TOKEN'))
        case 'nonce_used':
          return fail(c, answerWith('NONCE_ALREADY_USED'))
        case 'signed_in':
          return c.json({ user: await openSession(c, begun.user), isNew: false as const }, 200)
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
    })
    .openapi({ ...verifyOtp, middleware: limits.perRoute('verify-otp') }, async (c) => {
      const { registrationTicket, otp } = c.req.valid('json')
      const guess = await signIn.checkCode(registrationTicket, otp)
      switch (guess.kind) {
        case 'right':
          return c.json({ verified: true as const }, 200)
        case 'invalid_ticket':
          return fail(c, INVALID_TICKET)
        case 'expired':
          return fail(c, answerWith('CODE_EXPIRED'))
        case 'wrong': {
          const { attemptsRemaining } = guess
          return fail(c, answerWith('INVALID_CODE', { facts: { attemptsRemaining } }))
        }
        case 'exhausted': {
          const retryAfterSecs = CODE_PAUSE_MS / SECOND_MS // by then another code can be asked for
          return fail(c, answerWith('TOO_MANY_ATTEMPTS', { retryAfterSecs }))
        }
        default:
          return unreachable(guess)
      }
    })
    .openapi({ ...resendOtp, middleware: limits.perRoute('resend-otp') }, async (c) => {
      const resent = await signIn.resendCode(c.req.valid('json').registrationTicket)
      if (resent.kind === 'invalid_ticket') return fail(c, INVALID_TICKET)
      const inSecs = secondsUntil(resent.nextInMs)
      if (resent.kind === 'sent') return c.json({ sent: true as const, resendInSecs: inSecs }, 200)
      return fail(c, answerWith('RESEND_TOO_SOON', { retryAfterSecs: inSecs }))
    })
    .openapi({ ...complete, middleware: limits.perRoute('complete') }, async (c) => {
      const { registrationTicket, lastName = null, referralCode = null, ...profile } = c.req.valid('json')
      const completed = await signIn.complete(registrationTicket, { ...profile, lastName, referralCode })
      switch (completed.kind) {
        case 'registered': {
          const { user, isNew } = completed
          return c.json({ user: await openSession(c, user), isNew }, 200)
        }
        case 'invalid_ticket':
          return fail(c, INVALID_TICKET)
        case 'not_verified':
          return fail(c, answerWith('EMAIL_NOT_VERIFIED'))
        case 'username_taken':
          return fail(c, answerWith('USERNAME_TAKEN'))
        case 'unknown_district':
          return fail(c, invalid('districtId', 'no such district'))
        case 'unknown_referral':
          return fail(c, invalid('referralCode', 'nobody invites with this code'))
        default:
          return unreachable(completed)
      }
    })
}
