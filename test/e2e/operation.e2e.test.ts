/** Metrics and logs of a running server. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { FeedClient } from '../rooms/realtime-rig.ts'
import { present } from '../../actors/kernel/assert.ts'
import { HttpClient, pick, read, TradeAnswer } from '../support/http-client.ts'
import { killRemaining, PATIENCE, Program } from '../support/process.ts'
import { expressions, metricsIn } from '../ops/watching.ts'
import { embeddedPlace, type DataPlace } from '../support/data-place.ts'

let place: DataPlace
let server: Program
let ada: HttpClient
let addresses: { readonly url: string; readonly wsUrl: string }
/** The request that opened a position. */
let requestId: string

beforeAll(async () => {
  place = await embeddedPlace()
  server = new Program({ ...place.env, LOG_LEVEL: 'debug', DEMO_TRADERS: '0' })
  addresses = await server.listening
  ada = await HttpClient.of(addresses.url, 'Ada')
  const players = await vi.waitUntil(async () => {
    const all = await ada.instruments()
    return all.some(({ tradingStatus }) => tradingStatus === 'OPEN') && all
  }, PATIENCE)
  const { id, currentPrice } = pick(players)
  const feed = new FeedClient(await ada.socketUrl())
  await feed.opened
  await feed.subscribe([id])
  const answer = await ada.open({ instrumentId: id, direction: 'long', lotSize: 0.1, clientPrice: currentPrice })
  read(answer, 201, TradeAnswer)
  requestId = present(answer.headers.get('x-request-id'), 'the request id')
})
afterAll(async () => {
  await killRemaining()
  await place.remove()
})

async function metricsAt(address: string): Promise<string> {
  const answer = await fetch(`${address.replace(/^ws/, 'http')}/metrics`)
  expect(answer.status).toBe(200)
  return answer.text()
}

it('a running server serves its metrics at both addresses', async () => {
  const atFeed = await metricsAt(addresses.wsUrl)
  expect(atFeed).toMatch(/^touchline_sockets\{door="feed"\} 1$/m)
  const text = await metricsAt(addresses.url)
  expect(text).toMatch(
    /^touchline_http_request_duration_seconds_count\{.*route="\/api\/positions\/open",status="201"\} 1$/m,
  )
  expect(text).toMatch(/^touchline_commit_duration_seconds_count\{verdict="committed"\} [1-9]/m)
  expect(text).toMatch(/^touchline_deliveries_total [1-9]/m)
  expect(text).toMatch(/^touchline_feed_age_seconds\{match="\d+"\} \d/m)
  expect(text).toMatch(/^touchline_mailbox_depth\{match="\d+"\} \d/m)
  expect(text).toMatch(/^touchline_loop_lag_seconds\{quantile="1"\} \d/m)
  expect(text).toMatch(/^touchline_ledger_imbalance_micros 0$/m)
})

it('every metric that an alert or a dashboard names exists', async () => {
  const text = await metricsAt(addresses.url)
  const known = new Set(text.split('\n').map((line) => /^(?:# TYPE )?(\w+)/.exec(line)?.[1]))
  // Of another program: ops/tools/probe.
  known.add('touchline_probe_succeeded_timestamp_seconds')
  // Of a server with a standby: test/e2e/replica.e2e.test.ts.
  known.add('touchline_replica_in_use')
  const named = expressions().flatMap(metricsIn)
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((name) => !known.has(name))).toEqual([])
})

it('the log links a request to the commit that carried it out', async () => {
  const { stdout } = await server.stop()
  const lines = stdout.split('\n').filter((line) => line.includes(requestId))
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: 'batch_committed', verdict: 'committed', requests: [requestId] },
    {
      event: 'request_completed',
      requestId,
      method: 'POST',
      route: '/api/positions/open',
      status: 201,
      userId: expect.any(String),
    },
  ])
})
