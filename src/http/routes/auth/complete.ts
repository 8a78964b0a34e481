/** `POST /api/auth/google/complete`: the profile step, which creates the user. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { usernameFlaw } from '../../../../actors/community/registration.ts'
import { unreachable } from '../../../../actors/kernel/assert.ts'
import { answerWith, errors, fail, type HttpEnv, invalid } from '../../answers.ts'
import { BODY } from '../../error-codes.ts'
import { type Gates, PUBLIC_SECURITY } from '../../gates.ts'
import { DistrictIdInput, fieldsBody, LineInput } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { Queue, QUEUE_FULL, SIGN_INS } from '../../queue.ts'
import { json } from '../../schemas.ts'
import { UserBody } from '../../user-schema.ts'
import { deviceOf, failSignIn, openSession, type SessionDeps, TicketInput } from './registration.ts'

const Profile = fieldsBody({
  registrationTicket: TicketInput,
  username: z
    .string()
    .refine((name) => usernameFlaw(name) === null, {
      error: 'must be 3 to 20 of a-z, 0-9 and _, start with a letter, and not be reserved',
    })
    .openapi({ pattern: '^[a-z][a-z0-9_]{2,19}$', example: 'ada_l' }),
  firstName: LineInput.openapi({ example: 'Ada' }),
  lastName: LineInput.nullish().openapi({ example: 'Lovell' }),
  districtId: DistrictIdInput,
  referralCode: LineInput.nullish().openapi({ example: '5d0f9a3c71' }),
})

const route = createRoute({
  method: 'post',
  path: '/api/auth/google/complete',
  tags: ['Sign-in'],
  summary: 'Register: the profile step',
  description:
    'Creates the user, a wallet of 10,000 units and the referral in one transaction. E-mail, name and picture come ' +
    'from the ticket, whose e-mail must be verified. It works once: after a lost answer sign in with a new token of ' +
    'the identity provider. At most 10 a minute per address, and `auth.registrations_per_network_day` (0: any ' +
    'number) a day from one network (IPv4 by /24, IPv6 by /48). A person whose account was erased in the last year ' +
    'is frozen and limited as they were.',
  request: { body: Profile },
  security: PUBLIC_SECURITY,
  responses: {
    200: json(
      z.object({
        user: UserBody,
        isNew: z
          .boolean()
          .openapi({ description: 'False if the account had registered with another ticket.', example: true }),
      }),
      'Signed in: both session cookies are set.',
    ),
    ...errors(...BODY, 'INVALID_REGISTRATION_TICKET', 'EMAIL_NOT_VERIFIED', 'USERNAME_TAKEN', 'REGISTRATIONS_FULL'),
  },
})

const PER_MINUTE = 10

type Deps = SessionDeps & Pick<HttpDeps, 'signIn'>

export function completeProfile(deps: Deps, gates: Gates) {
  const queue = new Queue(SIGN_INS)
  const middleware = gates.limited('complete', PER_MINUTE)
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware }, async (c) => {
    const { registrationTicket, lastName = null, referralCode = null, ...profile } = c.req.valid('json')
    const network = deviceOf(c, deps).addressPrefix
    const complete = async () => {
      const completed = await deps.signIn.complete(registrationTicket, { ...profile, lastName, referralCode, network })
      switch (completed.kind) {
        case 'registered': {
          const { user, isNew } = completed
          return c.json({ user: await openSession(c, user, deps, { isFirst: isNew }), isNew }, 200)
        }
        case 'invalid_ticket':
          return failSignIn(c, answerWith('INVALID_REGISTRATION_TICKET'), deps)
        case 'not_verified':
          return failSignIn(c, answerWith('EMAIL_NOT_VERIFIED'), deps)
        case 'username_taken':
          return fail(c, answerWith('USERNAME_TAKEN'))
        case 'network_full':
          return fail(c, answerWith('REGISTRATIONS_FULL', { retryAfterSecs: completed.retryAfterSecs }))
        case 'unknown_district':
          return fail(c, invalid('districtId', 'unknown district'))
        case 'unknown_referral':
          return fail(c, invalid('referralCode', 'unknown referral code'))
        default:
          return unreachable(completed)
      }
    }
    return (await queue.run(c.req.raw.signal, complete)) ?? fail(c, QUEUE_FULL)
  })
}
