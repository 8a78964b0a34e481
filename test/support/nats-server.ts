/** The NATS of the tests, which TEST_NATS_URL names. */
import { randomUUID } from 'node:crypto'
import { describe, it } from 'vitest'
import { requireNamed } from './needs.ts'

export interface NatsServer {
  readonly url: string
  /** A subject prefix of its own for each test, since the server is shared. */
  readonly newPrefix: () => string
}

/** Runs a suite on NATS. Without a server it is skipped, except in CI, where that fails. */
export function onNats(suite: (server: NatsServer) => void): void {
  requireNamed('nats')
  const url = process.env['TEST_NATS_URL'] ?? ''
  describe.skipIf(url === '')('on NATS', () => suite({ url, newPrefix: () => `touchline.test ${randomUUID()}:` }))
  if (url === '' && process.env['CI'] === 'true') {
    it('has a NATS server to test against', () => {
      throw new Error('CI is set but TEST_NATS_URL is not: the suites for NATS would not run')
    })
  }
}
