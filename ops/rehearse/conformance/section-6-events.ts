/** Section 6: events, through both endpoints of the WebSocket address. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Check, into, near } from './check.ts'
import { waitFor } from './feed.ts'
import { closedOne, pricesOf } from './scenes.ts'
import { Activity, Instrument, MatchEvents, Notifications, Positions } from './shapes.ts'
import { NO_HOLD } from './waits.ts'

export const checks: Check[] = []
const check = into(checks)

const PRICE_BYTES = 93
/** Longer than an unsubscribed price would take to arrive. */
const QUIET_SECS = 1
/** Longer than an update of the feed takes to be shown. */
const SHOWN_SECS = 0.5
/** The state of a room is sent twice a second. */
const SYNCED_SECS = 1.5
/** Every 10 s, and what the way takes. */
const TICK_SECS = 11

// 6.1 The price feed

check(
  '6.1.1',
  'a WebSocket server pushes price messages (binary encoded, about 95 bytes on the wire each).',
  'A price message is 93 bytes of binary, 95 on the wire, laid out as the API describes it.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const feed = await t.feed(user)
    await feed.ask({ type: 'subscribe', id: 1, instrumentIds: [player.id] })
    const before = Date.now()
    await user.opens(player, { lotSize: 2 })
    const frame = await feed.frame('the move', ({ imbalance }) => imbalance === 2)
    assert(feed.weights.every((bytes) => bytes === PRICE_BYTES))
    const seen = await user.get(`/api/instruments/${player.id}`, Instrument)
    near(frame.price, seen.currentPrice, 'the price')
    near(frame.liveBase, seen.live_base_price, 'the base')
    near(frame.previousPrice, player.currentPrice, 'the previous price')
    assert.equal(frame.imbalance, 2)
    assert.equal(frame.providerEventId, 0)
    assert(Math.abs(frame.at / 1_000 - before) < 60_000, `the price is of ${new Date(frame.at / 1_000).toISOString()}`)
  },
)

check(
  '6.1.2',
  'A client subscribes per instrument and receives only subscribed instruments.',
  'A client receives only what it subscribed to, and nothing once it has unsubscribed.',
  async (t) => {
    const [user, mine, other] = [await t.user(), await t.player(), await t.player()]
    const feed = await t.feed(user)
    await feed.ask({ type: 'subscribe', id: 1, instrumentIds: [mine.id] })
    await user.opens(other)
    await user.opens(mine)
    await feed.frame('the move', ({ imbalance }) => imbalance === 0.5)
    const answer = await feed.ask({ type: 'unsubscribe', id: 2, instrumentIds: [mine.id] })
    assert.deepEqual(answer, { type: 'unsubscribed', id: 2, instrumentIds: [mine.id] })
    const received = feed.frames.length
    await user.opens(mine)
    await t.wait(QUIET_SECS)
    assert.equal(feed.frames.length, received, 'a price came after unsubscribing')
    assert(
      feed.frames.every(({ instrumentId }) => instrumentId === mine.id),
      'a price came without a subscription',
    )
  },
)

check(
  '6.1.3',
  'and on every position open or close (price moves with imbalance).',
  'Every position open and close brings a price.',
  { waits: NO_HOLD },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const feed = await t.feed(user)
    await feed.ask({ type: 'subscribe', id: 1, instrumentIds: [player.id] })
    const { position } = await user.opens(player, { lotSize: 3 })
    await feed.frame('the price of the open', ({ imbalance }) => imbalance === 3)
    await user.closes(position.id)
    const frame = await feed.frame('the price of the close', ({ imbalance, flags }) => imbalance === 0 && flags === 0)
    near(frame.price, player.currentPrice, 'the price')
  },
)

check(
  '6.1.4',
  'Keeps instrument prices moving from live match data. Price changes are pushed to clients over a WebSocket feed.',
  "The provider's live feed moves prices of a match in play, poll by poll.",
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const footballer = match.player('FWD')
    const player = match.instrument(footballer)
    const feed = await t.feed(await t.user())
    await feed.ask({ type: 'subscribe', id: 1, instrumentIds: [player.id] })
    const eventId = match.fixture.goal(footballer)
    const frame = await feed.frame('the tick', ({ liveBase }) => liveBase > player.live_base_price * 1.01)
    assert(frame.minute >= 45 && frame.minute < 60, `the minute is ${frame.minute}`)
    await feed.frame('the event behind it', ({ providerEventId }) => providerEventId === eventId)
  },
)

check(
  '6.1.5',
  "Price ticks are produced about every 10 s per live match from the data provider's live feed",
  'In play a price comes for every subscribed player at least every 10 s, whether or not it has moved.',
  { takes: 30 },
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const ids = [match.player('GK'), match.player('FWD')].map((one) => match.instrument(one).id)
    const feed = await t.feed(await t.user())
    await feed.ask({ type: 'subscribe', id: 1, instrumentIds: ids })
    await t.wait(24)
    for (const id of ids) {
      const gaps = feed.gaps(id)
      assert(gaps.length >= 2 && Math.max(...gaps) < TICK_SECS, `in 24 s prices came with gaps of ${gaps.join(', ')} s`)
    }
  },
)

// 6.2 The account stream

check(
  '6.2.1',
  "On reconnect the server replays missed margin evaluation from the client's last-seen marker.",
  'Margin warnings and a take-profit that fell into a gap are replayed after it, in order and exactly once.',
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const footballer = match.player('FWD')
    const [user, player] = [await t.user(), match.instrument(footballer)]
    const first = await t.feed(user)
    const { snapshot, marker } = await first.ask({ type: 'account', id: 1 })
    assert.equal(snapshot, true)
    first.close()
    const takeProfit = Math.ceil(player.currentPrice * 1.01)
    const winner = (await user.opens(player, { takeProfit })).position
    const loser = (await user.opens(player, { direction: 'short' })).position
    match.fixture.goal(footballer)
    await closedOne(t, user, 'the take-profit')
    await t.eventually('the loss of more than half the margin', async () => {
      const [{ unrealizedPnl, margin } = loser] = (await user.get('/api/positions', Positions)).positions
      if (-unrealizedPnl > margin * 0.55) return true
      match.fixture.shoots(footballer)
      await t.wait(SHOWN_SECS)
      return undefined
    })
    const second = await t.feed(user)
    const { events, marker: last } = await second.ask({ type: 'account', id: 1, since: marker })
    const told = events as { type: string; position: { id: string }; marginLostPct: number | null }[]
    const seen = told.map(({ type, position, marginLostPct }) =>
      [type, position.id === winner.id ? 'winner' : 'loser', ...(marginLostPct === null ? [] : [marginLostPct])].join(
        ' ',
      ),
    )
    assert.deepEqual(new Set(seen.slice(0, 2)), new Set(['opened winner', 'opened loser']))
    for (const wanted of ['closed winner', 'margin_warning loser 50'])
      assert.equal(seen.filter((one) => one === wanted).length, 1, `${wanted} in ${seen.join(', ')}`)
    // The price may have gone on to the next warning.
    assert.equal(new Set(seen).size, seen.length, seen.join(', '))
    const third = await t.feed(user)
    assert.deepEqual((await third.ask({ type: 'account', id: 1, since: last }))['events'], [])
  },
)

// 6.3 The match room

check(
  '6.3.1',
  'A client subscribes per instrument and receives only subscribed instruments.',
  'A client of the room gets only what it subscribed to, and nothing after `unsubscribe`.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const room = await t.room(user, player.fixtureId)
    const frames = pricesOf(room)
    await user.opens(player, { lotSize: 0.1 })
    await t.wait(QUIET_SECS)
    assert.deepEqual(frames, [])
    room.send('subscribe', { instrumentIds: [player.id] })
    await waitFor('a snapshot', () => frames[0])
    room.send('unsubscribe', { instrumentIds: [player.id] })
    await t.wait(QUIET_SECS)
    const received = frames.length
    await user.opens(player, { lotSize: 0.1 })
    await t.wait(QUIET_SECS)
    assert.equal(frames.length, received)
  },
)

check(
  '6.3.2',
  'A client subscribes per instrument and receives only subscribed instruments.',
  'Neither does the state of the room show a client an instrument that it has not subscribed to.',
  async (t) => {
    const [user, match] = [await t.user(), await t.match('HT')]
    const [first, other] = [match.instrument(match.player('FWD')), match.instrument(match.player('MID'))]
    const room = await t.room(user, match.id)
    pricesOf(room)
    const shown = (): string => JSON.stringify(room.state)
    await waitFor('the state', () => (shown().includes(String(match.id)) ? true : undefined))
    await user.opens(other)
    await t.wait(SYNCED_SECS)
    for (const { id } of [first, other]) assert.equal(shown().includes(id), false, 'the state shows an instrument')
    room.send('subscribe', { instrumentIds: [first.id] })
    await waitFor('the subscribed instrument', () => (shown().includes(first.id) ? true : undefined))
    await user.opens(other)
    await t.wait(SYNCED_SECS)
    assert.equal(shown().includes(other.id), false, 'the state shows another instrument')
  },
)

// 6.4 Other events

check(
  '6.4.1',
  '`GET /api/matches/:id/events` lists in-game events (goals, cards and others) for a fixture',
  '`GET /api/matches/:id/events` lists goals, cards and others; a goal that was taken back is retracted.',
  async (t) => {
    const match = await t.match('INPLAY_1ST_HALF')
    const user = await t.observer()
    const events = async () => (await user.get(`/api/matches/${match.id}/events`, MatchEvents)).events
    const goal = match.fixture.goal(match.player('FWD'))
    await t.eventually('the goal', async () => ((await events()).some(({ id }) => id === goal) ? true : undefined))
    match.fixture.takeBack(goal)
    await t.eventually('the end of the goal', async () => {
      const found = (await events()).find(({ id }) => id === goal)
      return found === undefined || found.retracted ? true : undefined
    })
  },
)

check(
  '6.4.2',
  'Notifications appear through `/api/notifications`.',
  'Notifications appear through `/api/notifications`: a close by the system brings one.',
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const footballer = match.player('FWD')
    const user = await t.user()
    const player = match.instrument(footballer)
    await user.opens(player, { takeProfit: Math.ceil(player.currentPrice * 1.02) })
    match.fixture.goal(footballer)
    await t.eventually('the notification', async () => {
      const { notifications } = await user.get('/api/notifications', Notifications)
      return notifications.find(({ type }) => type === 'position_closed')
    })
  },
)

check(
  '6.4.3',
  'Activity feed entries for legacy trades are added only when quantity is 10 or more or total is 2000 or more, and are written asynchronously with a 2 s timeout (they may lag).',
  'Legacy trades enter the activity feed only from quantity 10 or a total of 2000 on.',
  { alone: true },
  async (t) => {
    const { stores } = t // only an operator can import them
    const user = await t.user()
    const trades = [
      ['10 of 1', 10, 1],
      ['5 of 400', 5, 400],
      ['9.99 of 200', 9.99, 200],
      ['1 of 1999', 1, 1_999],
    ] as const
    const at = new Date().toISOString()
    const player = (name: string): string => `${user.profile.username} ${name}`
    const rows = trades.map(([name, quantity, price]) => {
      return [player(name), user.profile.username, player(name), 'buy', quantity, price, at].join(',')
    })
    const folder = await mkdtemp(join(tmpdir(), 'touchline-legacy-'))
    t.later(() => rm(folder, { recursive: true }))
    const file = join(folder, 'trades.csv')
    await writeFile(file, ['id,username,player,side,quantity,price,at', ...rows].join('\n'))
    const ops = join(import.meta.dirname, '../../main.ts')
    const env = { PATH: process.env['PATH'], ...stores.environment, PUBLIC_WS_URL: await t.wsUrl(user) }
    const importAll = () => promisify(execFile)(process.execPath, [ops, 'legacy-import', file], { env })
    await (stores.environment['DATABASE_URL'] === undefined ? stores.whileStopped(importAll) : importAll())
    const told = await t.eventually('the trades in the feed', async () => {
      const { events } = await user.get('/api/activity?limit=100', Activity)
      const texts = events.map(({ text }) => text)
      const found = trades.map(([name]) => name).filter((name) => texts.some((text) => text.includes(player(name))))
      return found.length > 0 ? found : undefined
    })
    assert.deepEqual(told, ['10 of 1', '5 of 400'])
  },
)
