/** The publish/subscribe on which the bus stands; `db/fast` has one for each engine. */

export interface PubSub {
  /** The message may be lost. Rejects when it certainly is. */
  publish(channel: string, message: Buffer): Promise<void>
  /**
   * The number of subscribers it reached, `some` where they are not counted. Rejects when it is unknown whether there
   * was one; then the message may have arrived.
   */
  send(channel: string, message: Buffer): Promise<Reached>
  /** Resolves when all messages published from then on will arrive, those of one publisher on one channel in order. */
  subscribe(channel: string, onMessage: (message: Buffer) => void): Promise<void>
  /** Messages delivered before it resolves still arrive. */
  unsubscribe(channel: string): Promise<void>
  /** Calls the listener whenever messages may have been missed. */
  onGap(listener: () => void): void
  /** Ends the connection, which is silent, and connects anew. */
  reconnect(): void
  close(): Promise<void>
}

/** How many subscribers a message has reached. `some`: at least one. */
export type Reached = number | 'some'
