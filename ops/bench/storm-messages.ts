/** What the processes of the storm benchmark tell each other. */

export type StormVariant = 'feed' | 'plain' | 'colyseus'

export interface StormOrder {
  readonly variant: StormVariant
  readonly clients: number
  /** Of the one match, all followed by every client. */
  readonly instruments: number
  /** Instruments that move in a tick. */
  readonly changing: number
  /** Ticks a second. */
  readonly hz: number
}

export interface Seats {
  /** Where each client upgrades. */
  readonly paths: readonly string[]
  /** What each posts before that, to have a seat; absent if none is needed. */
  readonly reservations?: readonly { readonly path: string; readonly body: string }[]
}

export type StormCommand =
  | { readonly kind: 'listen'; readonly order: StormOrder }
  | { readonly kind: 'tick' | 'returning' | 'rest' }
  | { readonly kind: 'cut'; readonly staying: number }

/** Some of the clients, in one process. */
export type CrowdCommand =
  | {
      readonly kind: 'connect'
      readonly port: number
      readonly seats: Seats
      /** The number of the first and of the one after the last. */
      readonly from: number
      readonly to: number
      readonly instruments: number
      readonly isRoom: boolean
      /** They come at random moments within this time. */
      readonly withinMs: number
    }
  /** Answers once every client has everything it missed, or with how many have by then. */
  | { readonly kind: 'arrived'; readonly withinMs: number }
  /** Delays of prices since the last question. */
  | { readonly kind: 'delays' }

export interface Arrivals {
  readonly arrived: number
  /** From the first connection to the last client with its prices. */
  readonly lastMs: number
  readonly medianMs: number
  /** Connections that were refused or lost, and tried again. */
  readonly retries: number
}
