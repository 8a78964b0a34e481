/** Which Redis carries messages between processes, and under which names. */
export interface PubSubOptions {
  readonly url: string
  /** Prefix of every channel, so that several installations can share a server. */
  readonly prefix?: string
}
