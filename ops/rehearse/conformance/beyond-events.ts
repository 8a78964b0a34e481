/** Beyond the specification: what it leaves open of both doors of the WebSocket address. */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { beyondInto, type Check, near, refuses, says } from './check.ts'
import type { OwnMatch } from './context.ts'
import { FeedSocket, waitFor } from './feed.ts'
import { FLAG, type PriceFrame } from './price-frame.ts'
import { pricesOf } from './scenes.ts'
import { AccountChanges, Squad } from './shapes.ts'
import { NO_HOLD } from './waits.ts'

export const checks: Check[] = []
const check = beyondInto(checks)

const NOBODY = '00000000-0000-4000-8000-000000000000'
/** Longer than an unsubscribed price would take to arrive. */
const QUIET_SECS = 1

interface Shown {
  readonly matchId?: number
  readonly state?: string
  readonly instruments?: Record<string, { price: unknown }>
}

check(
  '10.5.1',
  'Within three seconds `coming_soon` closes the sockets and seats of everybody but admins; joins are refused.',
  { alone: true, takes: 8 },
  async (t) => {
    const [admin, user, player] = [await t.admin(), await t.user(), await t.player()]
    const [feed, adminFeed] = [await t.feed(user), await t.feed(admin)]
    const room = await t.room(user, player.fixtureId)
    const left = new Promise<number>((resolve) => room.onLeave((code) => resolve(code)))
    const [address, token, adminToken] = [await t.wsUrl(user), await t.wsToken(user), await t.wsToken(admin)]
    const seatToken = await t.wsToken(user)
    says(await t.comingSoon(), 200)
    assert.deepEqual(await Promise.all([feed.closed(3_000), left]), [4003, 4003])
    assert.equal(await FeedSocket.refusal(address, token), 4003)
    const seat = async (bearer: string): Promise<number> => {
      const at = `${address.replace(/^ws/, 'http')}/matchmake/joinById/match-${player.fixtureId}?token=${bearer}`
      return (await fetch(at, { method: 'POST' })).status
    }
    assert.deepEqual([await seat(seatToken), await seat(adminToken)], [503, 200])
    await adminFeed.ask({ type: 'ping', id: 1 })
    t.later(() => adminFeed.close())
  },
)

check(
  '10.5.2',
  'Every change of a position is an event with a marker, in order, exactly once.',
  { waits: NO_HOLD },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const start = await user.get('/api/account/changes', AccountChanges)
    assert.deepEqual([start.snapshot, start.positions], [true, []])
    const { position } = await user.opens(player)
    await user.ask('PATCH', `/api/positions/${position.id}`, { body: { stopLoss: Math.floor(position.openPrice - 9) } })
    await user.closes(position.id)
    const { events } = await user.get(`/api/account/changes?since=${start.marker}`, AccountChanges)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['opened', 'changed', 'closed'],
    )
    const [first] = events
    const rest = await user.get(`/api/account/changes?since=${first?.marker}`, AccountChanges)
    assert.deepEqual(
      rest.events.map(({ type }) => type),
      ['changed', 'closed'],
    )
  },
)

check('10.5.3', 'A subscription brings the current price at once, flagged SNAPSHOT.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const feed = await t.feed(user)
  const answer = await feed.ask({ type: 'subscribe', id: 7, instrumentIds: [player.id] })
  assert.deepEqual(answer, { type: 'subscribed', id: 7, instrumentIds: [player.id], rejected: [] })
  const frame = await feed.frame('a snapshot', () => true)
  assert.equal(frame.flags & FLAG.snapshot, FLAG.snapshot)
  assert.partialDeepStrictEqual(frame, { instrumentId: player.id, fixtureId: player.fixtureId, tradingStatus: 1 })
  near(frame.price, player.currentPrice, 'the price')
  near(frame.liveBase, player.live_base_price, 'the base')
})

check('10.5.4', 'Sequence numbers of a match have no gap for a client that follows all of it.', async (t) => {
  const match = await t.match('HT')
  const players = match.fixture.players.filter(({ starter }) => starter).map((one) => match.instrument(one))
  const user = await t.user()
  const feed = await t.feed(user)
  await feed.ask({ type: 'subscribe', id: 1, instrumentIds: players.map(({ id }) => id) })
  await waitFor('all snapshots', () => (feed.frames.length >= players.length ? true : undefined))
  for (const player of players.slice(0, 8)) await user.opens(player, { lotSize: 0.1 })
  const seqs = await waitFor('all moves', () => {
    const after = feed.frames.filter(({ flags }) => (flags & FLAG.snapshot) === 0)
    const moved = new Set(after.filter(({ imbalance }) => imbalance === 0.1).map(({ instrumentId }) => instrumentId))
    return moved.size >= 8 ? [...new Set(after.map(({ seq }) => seq))] : undefined
  })
  const start = seqs[0] ?? 0
  assert.deepEqual(
    seqs,
    seqs.map((_, n) => start + n),
  )
})

check('10.5.5', 'With `since` a subscription brings what was missed, flagged REPLAY, and no snapshot.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const [first, witness] = [await t.feed(user), await t.feed(user)]
  for (const feed of [first, witness]) {
    await feed.ask({ type: 'subscribe', id: 1, instrumentIds: [player.id] })
    await feed.frame('a snapshot', () => true)
  }
  await user.opens(player, { lotSize: 1 })
  const { epoch, seq } = await first.frame('the last price before the disconnect', ({ imbalance }) => imbalance === 1)
  first.close()
  for (const lots of [2, 3]) {
    await user.opens(player, { lotSize: 1 })
    // Trades closer together may be one move.
    await witness.frame('the move', ({ imbalance }) => imbalance === lots)
  }
  const second = await t.feed(user)
  await second.ask({ type: 'subscribe', id: 1, instrumentIds: [player.id], since: { epoch, seq } })
  await second.frame('the last that was missed', ({ imbalance }) => imbalance === 3)
  assert.deepEqual([...new Set(second.frames.map(({ imbalance }) => imbalance))], [2, 3])
  const [replayed] = second.frames // the other may have come after the answer
  assert.equal((replayed?.flags ?? 0) & (FLAG.replay | FLAG.snapshot), FLAG.replay)
})

check('10.5.6', 'An unknown instrument is rejected by name; the others are accepted.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const feed = await t.feed(user)
  const answer = await feed.ask({ type: 'subscribe', id: 3, instrumentIds: [NOBODY, player.id] })
  assert.deepEqual(answer, {
    type: 'subscribed',
    id: 3,
    instrumentIds: [player.id],
    rejected: [{ instrumentId: NOBODY, code: 'not_found' }],
  })
})

check(
  '10.5.7',
  'A ping is answered with the time of the server; an idle socket hears a heartbeat.',
  { takes: 16 },
  async (t) => {
    const feed = await t.feed(await t.user())
    const { serverTime } = await feed.ask({ type: 'ping', id: 1 })
    assert(Math.abs(Date.parse(String(serverTime)) - Date.now()) < 60_000)
    await feed.message('a heartbeat', ({ type }) => type === 'heartbeat', 15_000)
  },
)

check('10.5.8', 'A message that makes no sense is answered with an error, and the socket stays.', async (t) => {
  const feed = await t.feed(await t.user())
  for (const nonsense of ['{', '[]', '{"type":"sell"}', '{"type":"subscribe","id":1,"instrumentIds":"all"}'])
    feed.say(nonsense)
  await waitFor('four errors', () =>
    feed.messages.filter(({ type }) => type === 'error').length === 4 ? true : undefined,
  )
  assert(feed.messages.every(({ code, message }) => typeof code === 'string' && typeof message === 'string'))
  await feed.ask({ type: 'ping', id: 2 })
})

check('10.5.9', 'The subprotocol is `feed.v1`.', async (t) => {
  assert.equal((await t.feed(await t.user())).ws.protocol, 'feed.v1')
})

check('10.5.10', 'A settlement price is flagged FINAL.', async (t) => {
  const match = await t.match('INPLAY_2ND_HALF')
  const feed = await t.feed(await t.user())
  await feed.ask({ type: 'subscribe', id: 1, instrumentIds: [match.instrument(match.player('MID')).id] })
  await feed.frame('a snapshot', () => true)
  match.fixture.enters('FINISHED')
  const frame = await feed.frame('the last price', ({ flags }) => (flags & FLAG.final) !== 0)
  assert.equal(frame.tradingStatus, 0)
})

const CONDITION = FLAG.stale | FLAG.suspended | FLAG.final

/** What a price says, whether it comes live or again. */
const quoteOf = (frame: PriceFrame): object => {
  const { seq, instrumentId, price, liveBase, imbalance, matchState, tradingStatus, flags } = frame
  return { seq, instrumentId, price, liveBase, imbalance, matchState, tradingStatus, condition: flags & CONDITION }
}

/** Whether a price that a client received says what the one before it said: then it is not sent again. */
function repeats(frame: PriceFrame, client: FeedSocket): boolean {
  const before = client.frames.findLast((one) => one.instrumentId === frame.instrumentId && one.seq < frame.seq)
  return before !== undefined && isDeepStrictEqual(quoteOf({ ...before, seq: frame.seq }), quoteOf(frame))
}

/** Whether a client received a later price in place of this one, and was told so. */
function isConflated({ instrumentId, seq }: PriceFrame, { frames }: FeedSocket): boolean {
  const received = frames.find((frame) => frame.instrumentId === instrumentId && frame.seq >= seq)
  return received !== undefined && received.seq > seq && (received.flags & FLAG.conflated) !== 0
}

check(
  '10.5.11',
  'Missed prices come in the order of `seq` over all instruments of a match; after more than 256, as snapshots.',
  { takes: 30 },
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const players = match.fixture.players.filter(({ starter }) => starter).map((one) => match.instrument(one))
    const ids = players.map(({ id }) => id)
    const user = await t.user()
    const first = await t.feed(user)
    await first.ask({ type: 'subscribe', id: 1, instrumentIds: ids })
    const { epoch } = await first.frame('a snapshot', () => true)
    const seqNow = (): number => Math.max(...first.frames.map(({ seq }) => seq))
    await waitFor('all snapshots', () => (first.frames.length >= ids.length ? true : undefined))
    const from = seqNow()
    for (const footballer of match.fixture.players.slice(0, 5)) {
      const before = first.frames.length
      match.fixture.goal(footballer)
      await waitFor('its moves', () => (first.frames.length > before ? true : undefined))
    }
    await t.wait(QUIET_SECS)
    const second = await t.feed(user)
    await second.ask({ type: 'subscribe', id: 1, instrumentIds: ids.toReversed(), since: { epoch, seq: from } })
    await second.ask({ type: 'ping', id: 2 }) // whose answer comes after all that was missed
    const replayed = second.frames.filter(({ flags }) => (flags & FLAG.replay) !== 0)
    const numbers = replayed.map(({ seq }) => seq)
    assert.deepEqual(
      numbers,
      numbers.toSorted((x, y) => x - y),
    )
    const upTo = numbers.at(-1) ?? 0
    assert(upTo > from, 'nothing was sent again')
    await waitFor('the same moves, live', () => (seqNow() >= upTo ? true : undefined))
    assert.deepEqual(
      first.frames.filter((frame) => frame.seq > from && frame.seq <= upTo && !repeats(frame, first)).map(quoteOf),
      replayed.filter((frame) => !isConflated(frame, first)).map(quoteOf),
    )
    const long = seqNow()
    while (seqNow() - long <= 256) {
      const before = seqNow()
      match.fixture.goal(match.player('FWD'))
      await waitFor('more moves', () => (seqNow() > before ? true : undefined))
    }
    const third = await t.feed(user)
    await third.ask({ type: 'subscribe', id: 1, instrumentIds: ids, since: { epoch, seq: long } })
    await waitFor('all snapshots', () => (third.frames.length >= ids.length ? true : undefined))
    const snapshots = third.frames.slice(0, ids.length)
    assert(snapshots.every(({ flags }) => (flags & FLAG.snapshot) !== 0))
    const seqs = snapshots.map(({ seq }) => seq)
    assert.deepEqual(
      seqs,
      seqs.toSorted((a, b) => a - b),
    )
  },
)

check('10.5.12', 'What happens to a position is told while it happens.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const feed = await t.feed(user)
  await feed.ask({ type: 'account', id: 1 })
  const { position } = await user.opens(player)
  const opening = await feed.message('the opening', ({ type, id }) => type === 'account' && id === undefined)
  assert.partialDeepStrictEqual(opening, { events: [{ type: 'opened', position: { id: position.id } }] })
})

check(
  '10.5.13',
  'Margin warnings come at 50 % and at 80 % of the margin lost, once each.',
  { takes: 50 },
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const footballer = match.player('FWD')
    const user = await t.user()
    const feed = await t.feed(user)
    await feed.ask({ type: 'account', id: 1 })
    await feed.ask({ type: 'subscribe', id: 2, instrumentIds: [match.instrument(footballer).id] })
    await user.opens(match.instrument(footballer), { direction: 'short', lotSize: 0.5 })
    await feed.frame('the move of the order', ({ imbalance }) => imbalance === -0.5)
    const warned = (): unknown[] =>
      feed.messages
        .flatMap(({ events }) => (events as { type: string; marginLostPct: unknown }[] | undefined) ?? [])
        .filter(({ type }) => type === 'margin_warning')
        .map(({ marginLostPct }) => marginLostPct)
    // One by one: an update with many shots may pass both marks at once, and then the higher one alone is told.
    const moves = async (happens: () => void): Promise<void> => {
      const base = (): number | undefined => feed.frames.at(-1)?.liveBase
      const before = base()
      happens()
      await waitFor('its move', () => (base() === before ? undefined : true))
    }
    await moves(() => match.fixture.goal(footballer))
    await t.eventually(
      'both warnings',
      async () => {
        if (warned().length === 2) return true
        await moves(() => match.fixture.shoots(footballer))
        return undefined
      },
      40,
    )
    assert.deepEqual(warned(), [50, 80])
  },
)

check('10.5.14', 'An SDK client joins the room `match` by match id, and sees its state.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const room = await t.room(user, player.fixtureId)
  pricesOf(room)
  room.send('subscribe', { instrumentIds: [player.id] })
  const state = await waitFor('the state', () => {
    const seen = room.state as { toJSON?: () => unknown } | undefined
    const shown = seen?.toJSON?.() as Shown | undefined
    // It is synced twice a second, and may not have been since the match reached this state.
    return shown?.instruments?.[player.id] === undefined || shown.state !== 'HT' ? undefined : shown
  })
  assert.partialDeepStrictEqual(state, { matchId: player.fixtureId, trading: 'OPEN' })
  near(Number(state.instruments?.[player.id]?.price) / 1e6, player.currentPrice, 'the price')
})

check('10.5.15', 'Both doors show the same prices.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const room = await t.room(user, player.fixtureId)
  const seated = pricesOf(room)
  const feed = await t.feed(user)
  room.send('subscribe', { instrumentIds: [player.id] })
  await feed.ask({ type: 'subscribe', id: 1, instrumentIds: [player.id] })
  await waitFor('a snapshot in the room', () => seated[0])
  await user.opens(player)
  const [here, there] = await Promise.all([
    waitFor('the move in the room', () => seated.find(({ imbalance }) => imbalance === 0.5)),
    feed.frame('the move on the feed', ({ imbalance }) => imbalance === 0.5),
  ])
  assert.deepEqual(here, there)
})

check('10.5.16', 'The account stream goes through the room, too.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const room = await t.room(user, player.fixtureId)
  pricesOf(room)
  const messages: { events?: { type: string }[]; snapshot?: boolean }[] = []
  room.onMessage('account', (message: (typeof messages)[number]) => void messages.push(message))
  room.send('account', {})
  await waitFor('a snapshot', () => messages.find(({ snapshot }) => snapshot === true))
  await user.opens(player)
  await waitFor('the opening', () => messages.find(({ events }) => events?.some(({ type }) => type === 'opened')))
})

check(
  '10.5.17',
  'A seat needs a valid token; `joinOrCreate` joins the room of a running match, and `create` makes none.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const base = (await t.wsUrl(user)).replace(/^ws/, 'http')
    const ask = async (path: string) => {
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ matchId: player.fixtureId }),
      }
      const answer = await fetch(`${base}/matchmake/${path}`, init)
      assert(answer.headers.has('x-request-id'), 'the answer lacks the fields of every answer')
      return answer.status
    }
    assert.equal(await ask('join/match'), 401)
    assert.equal(await ask('join/match?token=x.y.z'), 401)
    const token = await t.wsToken(user)
    assert.equal(await ask(`joinOrCreate/match?token=${token}`), 200)
    const status = await ask(`create/match?token=${token}`)
    assert(status >= 400 && status < 500, `create was answered ${status}`)
  },
)

check('10.5.18', 'An upgrade on any other path is refused.', async (t) => {
  const user = await t.user()
  const address = `${await t.wsUrl(user)}/elsewhere`
  await assert.rejects(FeedSocket.open(address, await t.wsToken(user)), /404/)
  refuses(await t.visitor().ask('GET', '/api/ws'), 404)
})

check('10.5.19', 'A socket that says more than ten messages a second is closed with 4029.', async (t) => {
  const feed = await t.feed(await t.user())
  for (let n = 0; n < 25; n++) feed.say({ type: 'ping', id: n })
  assert.equal(await feed.closed(), 4029)
})

check('10.5.20', 'A message over 16 KiB closes a socket with 1009.', async (t) => {
  const feed = await t.feed(await t.user())
  feed.say({ type: 'ping', id: 1, filler: 'x'.repeat(17 * 1_024) })
  assert.equal(await feed.closed(), 1009)
})

check('10.5.21', 'A socket follows at most 500 instruments.', { takes: 60 }, async (t) => {
  const matches: OwnMatch[] = []
  while (matches.length < 13) matches.push(await t.match('INPLAY_1ST_HALF'))
  const observer = await t.observer()
  const squads = await Promise.all(
    matches.flatMap(({ id }) =>
      ['home', 'away'].map((team) => observer.get(`/api/matches/${id}/squad?team=${team}`, Squad)),
    ),
  )
  const own = squads.flatMap(({ players }) => players.map(({ instrumentId }) => instrumentId))
  const feed = await t.feed(observer)
  const follow = async (id: number, instrumentIds: readonly string[]) => {
    const { instrumentIds: followed, rejected } = await feed.ask({ type: 'subscribe', id, instrumentIds })
    assert(Array.isArray(followed) && Array.isArray(rejected))
    return { followed: followed.length, refusals: [...new Set(rejected.map(({ code }) => code))] }
  }
  assert.deepEqual(await follow(1, own.slice(0, 300)), { followed: 300, refusals: [] })
  assert.deepEqual(await follow(2, own.slice(300, 520)), { followed: 200, refusals: ['limit'] })
})
