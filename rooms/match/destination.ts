/** Where the desk finds a match. */
import type { FixtureId } from '../../actors/kernel/ids.ts'
import type { Refusal } from '../../actors/kernel/outcome.ts'
import type { MatchActor } from '../../actors/match/actor.ts'

/** The result of an attempt to run a match here. */
export type Activation =
  | { readonly kind: 'active'; readonly actor: MatchActor }
  /** No feed has reported it. */
  | { readonly kind: 'unknown' }
  /** It is settled, and never runs again. */
  | { readonly kind: 'settled' }
  /** Another process holds its lease, or this one is stopping. */
  | { readonly kind: 'elsewhere' }

/** Where a command goes: to an actor, or to another process. */
export type Reachable = { readonly actor: MatchActor } | { readonly remote: FixtureId }
/** … or nowhere, with the reason. */
export type Destination = Reachable | { readonly refusal: Refusal }

export const notFound = (what: 'instrument' | 'position'): Destination => ({ refusal: { code: 'not_found', what } })
