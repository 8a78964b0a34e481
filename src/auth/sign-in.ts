/** Sign-in with the identity provider, and the steps of a registration (specification 3.1). */
import type { DistrictId } from '../../actors/kernel/ids.ts'
import type { Registration, Registered } from '../../db/registrations.ts'
import type { User } from '../../db/users.ts'
import type { Identity, IdentityProvider } from './identity.ts'
import type { Guess, OneTimeCodes } from './one-time-codes.ts'
import type { Tickets } from './tickets.ts'

/** Registered users; see `db/registrations.ts`. */
export interface People {
  /** The user registered with this identity, updated from it; null when there is none. */
  signIn(identity: Identity): Promise<User | null>
  register(registration: Registration): Promise<Registered>
}

/** What a user enters to register. */
export interface Profile {
  readonly username: string
  readonly firstName: string
  readonly lastName: string | null
  readonly districtId: DistrictId
  readonly referralCode: string | null
}

export type Begun =
  | { readonly kind: 'invalid_token' }
  | { readonly kind: 'nonce_used' }
  | { readonly kind: 'signed_in'; readonly user: User }
  | { readonly kind: 'new'; readonly ticket: string; readonly identity: Identity; readonly nextCodeInMs: number }

export type InvalidTicket = { readonly kind: 'invalid_ticket' }
export type Resent = InvalidTicket | { readonly kind: 'sent' | 'too_soon'; readonly nextInMs: number }
export type Completed = InvalidTicket | { readonly kind: 'not_verified' } | Registered

export interface SignIn {
  /** The token is verified before the nonce is claimed, so that a failed token does not consume the nonce. */
  readonly begin: (idToken: string, nonce: string) => Promise<Begun>
  readonly resendCode: (ticket: string) => Promise<Resent>
  readonly checkCode: (ticket: string, code: string) => Promise<InvalidTicket | Guess>
  /**
   * Creates the user of a ticket whose e-mail address is verified. A retry within the ticket's life returns the same
   * user.
   */
  readonly complete: (ticket: string, profile: Profile) => Promise<Completed>
}

export interface SignInOptions {
  readonly identities: IdentityProvider
  readonly nonces: { claimNonce(nonce: string): Promise<boolean> }
  readonly tickets: Tickets
  readonly codes: OneTimeCodes
  readonly people: People
}

export function createSignIn({ identities, nonces, tickets, codes, people }: SignInOptions): SignIn {
  const withTicket = async <T>(
    ticket: string,
    then: (identity: Identity) => Promise<T>,
  ): Promise<T | InvalidTicket> => {
    const identity = await tickets.read(ticket)
    return identity === null ? { kind: 'invalid_ticket' } : then(identity)
  }

  return {
    begin: async (idToken, nonce) => {
      const identity = await identities.identify(idToken, nonce)
      if (identity === null) return { kind: 'invalid_token' }
      if (!(await nonces.claimNonce(nonce))) return { kind: 'nonce_used' }
      const user = await people.signIn(identity)
      if (user !== null) return { kind: 'signed_in', user }
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
      withTicket(ticket, async (identity): Promise<Completed> => {
        if (!(await codes.isVerified(identity))) return { kind: 'not_verified' }
        return people.register({ identity, ...profile })
      }),
  }
}
