/**
 * What a first visit to the page costs: requests, bytes, and how long it takes until one can sign in and until one can
 * trade, on a good network and on that of a full stadium (400 ms, 50 kB/s).
 *
 *   npm run ops -- page-speed [visits, 5]
 *
 * It starts a demo of its own. Needs Chromium (`CHROMIUM` names another program).
 */
import { performance } from 'node:perf_hooks'
import type { CDPSession, Page } from 'playwright-core'
import { whole } from '../rehearse/rig/options.ts'
import { type Demo, openDemo } from './demo.ts'

const NETWORKS = [
  { name: 'good', latency: 0, kBps: 0 },
  { name: '400 ms, 50 kB/s', latency: 400, kBps: 50 },
] as const
const PATIENCE_MS = 60_000

interface Wire {
  readonly requests: number
  readonly kB: number
}

interface Visit {
  /** Until one can sign in, and until one can trade. */
  readonly wire: readonly [Wire, Wire]
  readonly door: number
  readonly trade: number
  /** The second visit: with the kept files, until one can trade. */
  readonly again: number
}

const visits = whole('visits', process.argv[2] ?? '5', 1, 100)
const demo = await openDemo({ RATE_LIMIT_PER_MIN: '0' })
try {
  console.log('network            requests     kB   door s   requests     kB   trade s   again s')
  for (const network of NETWORKS) {
    const all: Visit[] = []
    for (let n = 0; n < visits; n++) all.push(await visit(demo, network))
    const middle = (of: (one: Visit) => number): number => all.map(of).toSorted((a, b) => a - b)[visits >> 1] ?? 0
    const secs = (of: (one: Visit) => number): string => (middle(of) / 1_000).toFixed(1)
    const wire = (at: 0 | 1): readonly string[] => [
      String(middle((one) => one.wire[at].requests)).padStart(at === 0 ? 8 : 10),
      middle((one) => one.wire[at].kB)
        .toFixed(0)
        .padStart(6),
    ]
    console.log(
      network.name.padEnd(18),
      ...wire(0),
      secs((one) => one.door).padStart(8),
      ...wire(1),
      secs((one) => one.trade).padStart(9),
      secs((one) => one.again).padStart(9),
    )
  }
  console.log(`Medians of ${visits} visits. Requests and kB are those of the whole visit until then.`)
} finally {
  await demo.close()
}

async function visit({ browser, url }: Demo, network: (typeof NETWORKS)[number]): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const session = await context.newCDPSession(page)
  const wire = await measured(session)
  await slowDown(session, network)
  const timed = async (until: () => Promise<unknown>): Promise<number> => {
    const start = performance.now()
    await until()
    return performance.now() - start
  }
  const door = await timed(async () => {
    await page.goto(url, { waitUntil: 'commit' })
    await page.getByRole('button', { name: 'Kick off' }).waitFor()
  })
  const atDoor = wire()
  await page.getByLabel('Your name').fill('Stadium')
  const trade = await timed(async () => {
    await page.getByRole('button', { name: 'Kick off' }).click()
    await canTrade(page)
  })
  const atTrade = wire()
  const again = await timed(async () => {
    await page.reload({ waitUntil: 'commit' })
    await canTrade(page)
  })
  await context.close()
  return { wire: [atDoor, atTrade], door, trade, again }
}

async function canTrade(page: Page): Promise<void> {
  await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Trade' }).click()
  await page
    .getByRole('button', { name: /^Go long/ })
    .and(page.locator(':enabled'))
    .waitFor()
}

async function measured(session: CDPSession): Promise<() => Wire> {
  let [requests, bytes] = [0, 0]
  await session.send('Network.enable')
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
    // What the browser has kept crosses no network.
    if (encodedDataLength > 0) requests++
  })
  return () => ({ requests, kB: bytes / 1_000 })
}

async function slowDown(session: CDPSession, { latency, kBps }: (typeof NETWORKS)[number]): Promise<void> {
  if (kBps === 0) return
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency,
    downloadThroughput: kBps * 1_000,
    uploadThroughput: kBps * 1_000,
  })
}
