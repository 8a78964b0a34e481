/** The live provider of match data, where one is configured. */
import { FeedFaults } from '../../db/feed-faults.ts'
import { Fixtures } from '../../db/fixtures.ts'
import type { RealTime, RealTimeOptions } from '../../rooms/boot.ts'
import { FEED_FAULTS } from '../../rooms/sources/provider.ts'
import { createProvider } from '../provider/client.ts'
import type { Base } from './base.ts'
import type { Stores } from './stores.ts'

export function providerContext({ config, world, log }: Base, { db }: Stores): RealTimeOptions['provider'] {
  if (config.provider === null) return null
  const { url, token, pollMs } = config.provider
  return {
    provider: createProvider({ url, token: token.reveal(), timeoutMs: providerTimeoutMs(pollMs), world }),
    calendar: new Fixtures(db),
    faults: new FeedFaults(db, FEED_FAULTS),
    pollMs,
    log: (event, facts) => log.info(event, facts),
  }
}

/** How long the provider may take to answer: most of a poll, and neither less than a second nor more than eight. */
const providerTimeoutMs = (pollMs: number): number => Math.min(8_000, Math.max(1_000, Math.floor(pollMs * 0.8)))

/**
 * Adds the poller of the live provider, in a process that runs matches. It starts once clients can reach the process.
 */
export function addProvider({ config, lifecycle }: Base, realTime: RealTime): void {
  if (!config.roles.includes('rooms')) return
  lifecycle.add({
    name: 'provider-poller',
    kind: 'worker',
    start: () => realTime.followProvider(),
    stop: () => realTime.provider()?.stop(),
  })
}
