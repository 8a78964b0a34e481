/** What the processes of the storm benchmark tell each other. */

export interface StormOrder {
  readonly clients: number
  /** Of the one match, all followed by every client. */
  readonly instruments: number
  /** Instruments that move in a tick. */
  readonly changing: number
  /** Ticks a second. */
  readonly hz: number
}

export type StormCommand =
  | { readonly kind: 'listen'; readonly order: StormOrder }
  | { readonly kind: 'tick' | 'rest' }
  | { readonly kind: 'cut'; readonly staying: number }

/** Some of the clients, in one process. */
export type CrowdCommand =
  | {
      readonly kind: 'connect'
      readonly port: number
      /** Where each client upgrades. */
      readonly paths: readonly string[]
      /** The number of the first and of the one after the last. */
      readonly from: number
      readonly to: number
      readonly instruments: number
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
