/** Two servers of PostgreSQL, as the rehearsal uses them: promoted by itself, or by Patroni. */

/** Where a server listens, and where it says whether it is the primary. */
export interface Backend {
  readonly port: number
  readonly checkPort: number
}

/** What happens to the primary. */
export interface Death {
  readonly what: string
  /** The longest time without an acknowledged trade that it may cause, in milliseconds. */
  readonly silenceMaxMs: number
}

export interface Databases {
  /** In the order of the servers in HAProxy's configuration. */
  readonly backends: readonly Backend[]
  /** An existing database, through a balancer that listens on this port. */
  url(port: number): string
  /** What `kill` does in this round, from 1. */
  death(round: number): Death
  /** Ends the primary as `death` says. */
  kill(round: number): Promise<void>
  /** Resolves when the standby has become the primary. */
  replaced(): Promise<void>
  /** Resolves when the former primary is the standby. */
  rejoined(): Promise<void>
  stop(): Promise<void>
}
