/** How a connection to Redis ends. */
import { setTimeout as pause } from 'node:timers/promises'
import type { RedisClient } from './redis-address.ts'

/** A process has four such connections and ten seconds to stop. */
const QUIT_MS = 500

/**
 * Waits for running commands, then closes. A node that does not answer, as one that was killed a moment ago, is left
 * after half a second: it would keep the process from stopping. Never rejects.
 */
export async function quit(redis: Pick<RedisClient, 'quit' | 'disconnect'>, withinMs = QUIT_MS): Promise<void> {
  const done = new AbortController()
  const late = pause(withinMs, undefined, { signal: done.signal }).catch(() => undefined)
  await Promise.race([redis.quit().catch(() => undefined), late])
  done.abort()
  redis.disconnect()
}
