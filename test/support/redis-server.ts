/** The Redis of the tests, which TEST_REDIS_URL names. */
import { randomUUID } from 'node:crypto'
import { describe, it } from 'vitest'
import { requireNamed } from './needs.ts'

export interface RedisServer {
  readonly url: string
  /** A key prefix of its own for each test, since the server is shared. */
  readonly newPrefix: () => string
}

/** Runs a suite on Redis. Without a server it is skipped, except in CI, where that fails. */
export function onRedis(suite: (server: RedisServer) => void): void {
  requireNamed('redis')
  const url = process.env['TEST_REDIS_URL'] ?? ''
  const prefix = process.env['TEST_REDIS_PREFIX'] ?? 'touchline-test:'
  describe.skipIf(url === '')('on Redis', () => suite({ url, newPrefix: () => `${prefix}${randomUUID()}:` }))
  if (url === '' && process.env['CI'] === 'true') {
    it('has a Redis to test against', () => {
      throw new Error('CI is set but TEST_REDIS_URL is not: the suites for Redis would not run')
    })
  }
}
