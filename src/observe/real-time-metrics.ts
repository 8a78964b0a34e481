/** Metrics of sockets, matches, the bus, and the poller of the live provider. */
import { Counter, Gauge, type Metric } from 'prom-client'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import type { PollerStats, RealTimeStats } from '../../rooms/stats.ts'
import { known, readAtScrape } from './scraped.ts'

export function realTimeMetrics(stats: () => RealTimeStats): Metric[] {
  return [
    readAtScrape(
      Gauge,
      { name: 'touchline_sockets', help: 'Open sockets by endpoint: price feed, match rooms.', label: 'door' },
      () => Object.entries(stats().sockets),
    ),
    readAtScrape(
      Counter,
      { name: 'touchline_deliveries_total', help: 'Prices written to followers.' },
      () => stats().traffic.prices,
    ),
    readAtScrape(
      Counter,
      {
        name: 'touchline_conflations_total',
        help: 'Delivered prices that replaced older ones not yet sent to a slow reader.',
      },
      () => stats().traffic.conflated,
    ),
    readAtScrape(
      Counter,
      { name: 'touchline_writes_total', help: 'Writes to followers; one write carries all prices that are due.' },
      () => stats().traffic.writes,
    ),
    readAtScrape(
      Counter,
      {
        name: 'touchline_sockets_dropped_total',
        help: 'Sockets closed because their client did not read what it was sent.',
      },
      () => stats().tooSlow,
    ),
    ...matchMetrics(() => stats().matches),
    readAtScrape(
      Counter,
      {
        name: 'touchline_feed_updates_refused_total',
        help: 'Updates that a match did not take: their clock was behind, or they showed it before kick-off.',
        label: 'reason',
      },
      () => Object.entries(stats().refusedUpdates),
    ),
    readAtScrape(
      Counter,
      {
        name: 'touchline_bus_requests_total',
        help:
          'Requests to other processes by end: answered, gone (no receiver), silent (timed out), ' +
          'failed (receiver error).',
        label: 'end',
      },
      () => Object.entries(stats().requests ?? {}),
    ),
    readAtScrape(
      Gauge,
      {
        name: 'touchline_bus_unheard_seconds',
        help: 'Seconds since this process last received one of its own bus messages.',
        label: 'bus',
      },
      () => known('own', stats().busUnheardMs, SECOND_MS),
    ),
    ...pollerMetrics(() => stats().poller),
  ]
}

function pollerMetrics(poller: () => PollerStats | null): Metric[] {
  const polling = {
    name: 'touchline_provider_polling',
    help: 'Whether this process polls the live provider. One of the installation does.',
    label: 'poller',
  }
  const polls = {
    name: 'touchline_provider_polls_total',
    help: 'Polls of the live provider by outcome.',
    label: 'outcome',
  }
  const age = {
    name: 'touchline_provider_answer_age_seconds',
    help: 'Seconds since the live provider answered, or else since this process began to poll it.',
    label: 'poller',
  }
  const faults = {
    name: 'touchline_feed_faults_total',
    help: 'Failed requests and skipped or refused data of the live provider, by reason.',
    label: 'reason',
  }
  const quota = {
    name: 'touchline_provider_quota_left',
    help: "Requests left of the live provider's quota, where this process polls it.",
    label: 'poller',
  }
  return [
    readAtScrape(Counter, faults, () => Object.entries(poller()?.faults ?? {})),
    readAtScrape(Gauge, quota, () => known('own', poller()?.quotaLeft)),
    readAtScrape(Gauge, polling, () => known('own', poller() && Number(poller()?.polling))),
    readAtScrape(Counter, polls, () => [
      ...known('answered', poller()?.answered),
      ...known('failed', poller()?.failed),
    ]),
    readAtScrape(Gauge, age, () => known('own', poller()?.silentMs, SECOND_MS)),
  ]
}

function matchMetrics(matches: () => RealTimeStats['matches']): Metric[] {
  const agesOf = (age: 'feedAgeMs' | 'clockStillMs') => () =>
    matches().flatMap((match) => {
      const ms = match[age]
      return ms === null ? [] : [[String(match.matchId), ms / SECOND_MS] as const]
    })
  return [
    readAtScrape(
      Gauge,
      { name: 'touchline_matches_running', help: 'Matches that run in this process.' },
      () => matches().length,
    ),
    readAtScrape(
      Gauge,
      {
        name: 'touchline_mailbox_depth',
        help: "Messages waiting in a match's mailbox; full at 1,024.",
        label: 'match',
      },
      () => matches().map(({ matchId, waiting }) => [String(matchId), waiting] as const),
    ),
    readAtScrape(
      Gauge,
      {
        name: 'touchline_feed_age_seconds',
        help: 'Seconds since a poll last told of a match in play.',
        label: 'match',
      },
      agesOf('feedAgeMs'),
    ),
    readAtScrape(
      Gauge,
      {
        name: 'touchline_match_clock_still_seconds',
        help: 'How long the clock of a match has stood still in play.',
        label: 'match',
      },
      agesOf('clockStillMs'),
    ),
  ]
}
