/**
 * What happens at the doors, for metrics and the audit log: sign-ins, failed ones, copied tokens, networks that are
 * refused again and again, and those from which many register. No request waits for it. Events are gathered, equal ones
 * counted together, and written about once a second; a process that is killed loses that second. Addresses are kept by
 * network only.
 */
import type { UserId } from '../../actors/kernel/ids.ts'
import { type Clock, MINUTE_MS } from '../../actors/kernel/world.ts'
import type { ControlAction } from '../../db/audit-log.ts'

/** Why a sign-in failed, as the code of its answer. */
export type SignInFailure =
  | 'INVALID_IDENTITY_TOKEN'
  | 'NONCE_ALREADY_USED'
  | 'INVALID_REGISTRATION_TICKET'
  | 'INVALID_CODE'
  | 'CODE_EXPIRED'
  | 'TOO_MANY_ATTEMPTS'
  | 'EMAIL_NOT_VERIFIED'

export interface SecurityEventsOptions {
  readonly audit: { recordAll(actions: readonly ControlAction[]): Promise<void> }
  readonly clock: Clock
  /** Called for every sign-in: `ok`, or why it failed. */
  readonly onSignIn: (outcome: 'ok' | SignInFailure) => void
}

/** An answered request, and the network it came from. */
export interface Answered {
  readonly status: number
  readonly from: string
}

/** A page whose session has ended is refused a few times; 300 in a minute from one network are an attack. */
const BURST = 300
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 429])
/** Kinds of events, and networks, that are told apart; what exceeds them is counted together. */
const KINDS_MAX = 1_000
const NETWORKS_MAX = 10_000
const OTHERS = 'others'

type Event = Omit<ControlAction, 'before' | 'after'> & { readonly from: string | null }

export class SecurityEvents {
  readonly #options: SecurityEventsOptions
  #gathered = new Map<string, { readonly event: Event; times: number }>()
  #minute = 0
  /** Refusals of the current minute, by network. */
  #refusals = new Map<string, number>()

  constructor(options: SecurityEventsOptions) {
    this.#options = options
  }

  signedIn(user: UserId, from: string): void {
    this.#options.onSignIn('ok')
    this.#gather({ actor: user, action: 'session.start', subject: user, from })
  }

  signInFailed(outcome: SignInFailure, from: string): void {
    this.#options.onSignIn(outcome)
    this.#gather({ actor: null, action: 'session.start', subject: 'unknown', outcome, from })
  }

  /** A refresh token that had been replaced was used again: it was copied. */
  tokenReused(user: UserId): void {
    this.#gather({ actor: null, action: 'session.reuse', subject: user, from: null })
  }

  /** Many users have registered from one network on a day. */ // Y7
  crowdRegistered(from: string): void {
    this.#gather({ actor: null, action: 'registrations.crowd', subject: from, from: null })
  }

  answered({ status, from }: Answered): void {
    if (!REFUSALS.has(status)) return
    const minute = Math.floor(this.#options.clock.now() / MINUTE_MS)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#refusals = new Map()
    }
    const count = (this.#refusals.get(from) ?? 0) + 1
    if (count === 1 && this.#refusals.size >= NETWORKS_MAX) return
    this.#refusals.set(from, count)
    if (count === BURST) this.#gather({ actor: null, action: 'refusals.burst', subject: from, from: null })
  }

  /** Writes what was gathered; it is kept when that fails. */
  async flush(): Promise<void> {
    const gathered = this.#gathered
    if (gathered.size === 0) return
    this.#gathered = new Map()
    try {
      await this.#options.audit.recordAll([...gathered.values()].map(({ event, times }) => entryOf(event, times)))
    } catch (error) {
      for (const { event, times } of gathered.values()) this.#gather(event, times)
      throw error
    }
  }

  #gather(event: Event, times = 1): void {
    const key = JSON.stringify(event)
    const known = this.#gathered.get(key)
    if (known !== undefined) known.times += times
    else if (this.#gathered.size < KINDS_MAX || event.subject === OTHERS) this.#gathered.set(key, { event, times })
    else this.#gather({ ...event, actor: null, subject: OTHERS, from: null }, times)
  }
}

function entryOf({ from, ...event }: Event, times: number): ControlAction {
  const after = { ...(from === null ? {} : { from }), ...(times === 1 ? {} : { times }) }
  return { ...event, before: null, after: Object.keys(after).length === 0 ? null : after }
}
