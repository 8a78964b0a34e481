/** Sign-in with the identity provider, and the steps of a registration (specification 3.1). */
import type { DistrictId } from '../../actors/kernel/ids.ts'
import type { Instant } from '../../actors/kernel/world.ts'
import type { Registration, Registered, SignedInAs } from '../../db/registrations.ts'
import type { User } from '../../db/users.ts'
import type { Claimed, Identity, IdentityProvider } from './identity.ts'
import type { Guess, OneTimeCodes } from './one-time-codes.ts'
import type { Ticket, Tickets } from './tickets.ts'

/** Registered users; see `db/registrations.ts`. */
export interface People {
  /** The user registered with this identity, updated from it. */
  signIn(identity: Claimed): Promise<SignedInAs>
  register(registration: Registration): Promise<Registered>
}

/** What a user enters to register. */
export interface Profile {
  readonly username: string
  readonly firstName: string
  readonly lastName: string | null
  readonly districtId: DistrictId
  readonly referralCode: string | null
  /** Where the request came from, such as `203.0.113.0/24`. */
  readonly network: string
}

export type Begun =
  | { readonly kind: 'invalid_token' }
  | { readonly kind: 'nonce_used' }
  /** `kept`: the user had deleted the account, and it stays because they have signed in. */
  | {
      readonly kind: 'signed_in'
      readonly user: User
      readonly kept: boolean
      readonly authenticatedAt: Instant | null
    }
  | { readonly kind: 'new'; readonly ticket: string; readonly identity: Identity; readonly nextCodeInMs: number }

export type InvalidTicket = { readonly kind: 'invalid_ticket' }
export type Resent = InvalidTicket | { readonly kind: 'sent' | 'too_soon'; readonly nextInMs: number }
export type Completed =
  | InvalidTicket
  | { readonly kind: 'not_verified' }
  | Exclude<Registered, { readonly kind: 'ticket_used' }>

export interface SignIn {
  /** The token is verified before the nonce is claimed, so that a failed token does not consume the nonce. */
  readonly begin: (idToken: string, nonce: string) => Promise<Begun>
  readonly resendCode: (ticket: string) => Promise<Resent>
  readonly checkCode: (ticket: string, code: string) => Promise<InvalidTicket | Guess>
  /**
   * Creates the user of a ticket whose e-mail address is verified, and uses the ticket up.
   */
  readonly complete: (ticket: string, profile: Profile) => Promise<Completed>
}

export interface SignInOptions {
  readonly identities: IdentityProvider
  /** Each is true for the first use. */
  readonly once: {
    claimNonce(nonce: string): Promise<boolean>
    claimIdToken(token: string, until: Instant): Promise<boolean>
  }
  readonly tickets: Tickets
  readonly codes: OneTimeCodes
  readonly people: People
}

export function createSignIn({ identities, once, tickets, codes, people }: SignInOptions): SignIn {
  const withTicket = async <T>(
    ticket: string,
    then: (identity: Identity, read: Ticket) => Promise<T>,
  ): Promise<T | InvalidTicket> => {
    const read = await tickets.read(ticket)
    return read === null ? { kind: 'invalid_ticket' } : then(read.identity, read)
  }

  return {
    begin: async (idToken, nonce) => {
      const identified = await identities.identify(idToken, nonce)
      if (identified === null) return { kind: 'invalid_token' }
      const { identity: claimed, until, authenticatedAt } = identified
      if (!(await once.claimNonce(nonce))) return { kind: 'nonce_used' }
      // A nonce is remembered for 300 seconds from its use, a token for as long as it counts.
      if (!(await once.claimIdToken(idToken, until))) return { kind: 'invalid_token' }
      const known = await people.signIn(claimed)
      if (known.kind === 'user')
        return { kind: 'signed_in', user: known.user, kept: known.kept === true, authenticatedAt }
      const { name = claimed.email, picture = null } = claimed
      const identity = { ...claimed, name, picture }
      const [ticket, { nextInMs }] = await Promise.all([tickets.issue(identity), codes.send(identity)])
      return { kind: 'new', ticket, identity, nextCodeInMs: nextInMs }
    },
    resendCode: (ticket) =>
      withTicket(ticket, async (identity) => {
        const { sent, nextInMs } = await codes.send(identity)
        return { kind: sent ? 'sent' : 'too_soon', nextInMs } as const
      }),
    checkCode: (ticket, code) => withTicket(ticket, (identity) => codes.check(identity, code)),
    complete: (ticket, profile) =>
      withTicket(ticket, async (identity, read): Promise<Completed> => {
        if (!(await codes.isVerified(identity))) return { kind: 'not_verified' }
        const registered = await people.register({ identity, ...profile, ticket: read })
        return registered.kind === 'ticket_used' ? { kind: 'invalid_ticket' } : registered
      }),
  }
}
