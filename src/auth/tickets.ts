/**
 * Registration tickets (specification 2.1): an identity from the identity provider, signed by us with HMAC-SHA256. A
 * client carries it through the steps of a registration and cannot change it.
 */
import { errors, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { type Instant, instant, isPending, SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { Identity } from './identity.ts'

const ALGORITHM = 'HS256'
/** In the header, so that no other token made with this secret is accepted. */
const TYPE = 'registration-ticket'
const ISSUER = 'game-api'

const Claims = z.object({
  jti: z.string(),
  exp: z.number(),
  sub: z.string(),
  email: z.string(),
  name: z.string(),
  picture: z.string().nullable(),
})

export interface Ticket {
  readonly id: string
  readonly expiresAt: Instant
  readonly identity: Identity
}

export interface Tickets {
  readonly issue: (identity: Identity) => Promise<string>
  /** Null for an invalid or expired ticket. One that was used is still read: only a registration uses it up. */
  readonly read: (ticket: string) => Promise<Ticket | null>
}

export interface TicketsOptions {
  readonly secret: string
  readonly ttlSecs: number
  readonly world: Pick<World, 'now' | 'newId'>
}

export function createTickets({ secret, ttlSecs, world }: TicketsOptions): Tickets {
  const key = new TextEncoder().encode(secret)
  return {
    issue: ({ sub, email, name, picture }) => {
      const issuedAt = Math.floor(world.now() / SECOND_MS)
      return new SignJWT({ email, name, picture })
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
        .setIssuer(ISSUER)
        .setSubject(sub)
        .setJti(world.newId())
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + ttlSecs)
        .sign(key)
    },
    read: async (ticket) => {
      const currentDate = new Date(world.now())
      try {
        const options = { algorithms: [ALGORITHM], typ: TYPE, issuer: ISSUER, requiredClaims: ['exp'], currentDate }
        const claims = Claims.safeParse((await jwtVerify(ticket, key, options)).payload).data
        if (claims === undefined) return null
        const { jti, exp, ...identity } = claims
        if (!isPending(exp * SECOND_MS, currentDate.getTime(), ttlSecs * SECOND_MS)) return null
        return { id: jti, expiresAt: instant(exp * SECOND_MS), identity }
      } catch (error) {
        if (error instanceof errors.JOSEError) return null
        throw error
      }
    },
  }
}
