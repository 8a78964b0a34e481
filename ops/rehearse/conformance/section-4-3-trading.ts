/** Section 4.3: positions, trades, wallet, all with the access cookie. */
import assert from 'node:assert/strict'
import { type Check, into, near, refuses, says } from './check.ts'
import { LegacyTrades, Portfolio, Positions, Trade, Wallet } from './shapes.ts'
import { read } from './visitor.ts'
import { NO_HOLD } from './waits.ts'

export const checks: Check[] = []
const check = into(checks)

const NOBODY = '00000000-0000-4000-8000-000000000000'
const ROUTES = [
  ['POST', '/api/positions/open'],
  ['POST', '/api/positions/quote'],
  ['GET', '/api/positions'],
  ['PATCH', `/api/positions/${NOBODY}`],
  ['POST', `/api/positions/${NOBODY}/close`],
  ['GET', '/api/trades'],
  ['GET', '/api/portfolio'],
  ['GET', '/api/wallet'],
  ['GET', '/api/wallet/ledger'],
  ['GET', '/api/account/changes'],
] as const

check(
  '4.3.1',
  '4.3 Positions, trades, wallet (all JWT)',
  'Every route of 4.3 is 401 without a valid access cookie.',
  async (t) => {
    for (const [method, path] of ROUTES) {
      refuses(await t.visitor().ask(method, path, method === 'GET' ? {} : { body: {} }), 401)
    }
  },
)

check(
  '4.3.2',
  'POST | `/api/positions/open` | header `Idempotency-Key`; body `instrumentId`, `direction` (`long`/`short`), `lotSize`, `clientPrice` (price the client saw), optional SL/TP',
  '`POST /api/positions/open` answers 201 with the position and the wallet after it.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const levels = { stopLoss: Math.floor(player.currentPrice - 9), takeProfit: Math.ceil(player.currentPrice + 9) }
    const reply = await user.order(player, { lotSize: 0.25, ...levels }, {})
    const { position, wallet } = read(reply, Trade)
    assert.equal(reply.status, 201)
    assert.partialDeepStrictEqual(position, {
      instrumentId: player.id,
      direction: 'long',
      lotSize: 0.25,
      status: 'open',
      ...levels,
    })
    near(wallet.marginUsed, position.margin, 'margin used')
  },
)

check(
  '4.3.3',
  'body `instrumentId`, `direction` (`long`/`short`), `lotSize`, `clientPrice` (price the client saw)',
  'An open without instrument, direction, lot size or client price is 400, and so is nonsense.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const order = { instrumentId: player.id, direction: 'long', lotSize: 1, clientPrice: player.currentPrice }
    for (const field of Object.keys(order)) {
      refuses(await user.post('/api/positions/open', { ...order, [field]: undefined }), 400, {
        error: 'validation failed',
      })
    }
    const wrong = [
      { direction: 'up' },
      { lotSize: '1' },
      { clientPrice: 0 },
      { clientPrice: -5 },
      { instrumentId: 'x' },
      { stopLoss: 0 },
      { takeProfit: 'high' },
    ]
    for (const field of wrong) refuses(await user.post('/api/positions/open', { ...order, ...field }), 400)
    assert.equal((await user.get('/api/wallet', Wallet)).balance, 10_000)
  },
)

check(
  '4.3.4',
  'Open and close accept an idempotency key.',
  'The same `Idempotency-Key` and body get the first answer again, and one position.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const key = { 'idempotency-key': t.newName() }
    const order = { instrumentId: player.id, direction: 'long', lotSize: 0.5, clientPrice: player.currentPrice }
    const first = await user.ask('POST', '/api/positions/open', { body: order, headers: key })
    const again = await user.ask('POST', '/api/positions/open', { body: order, headers: key })
    assert.deepEqual([again.status, again.body], [first.status, first.body])
    assert.deepEqual(
      [first, again].map(({ headers }) => headers.get('idempotent-replayed')),
      [null, 'true'],
    )
    assert.equal((await user.get('/api/positions', Positions)).positions.length, 1)
  },
)

check(
  '4.3.5',
  "GET | `/api/positions` | caller's open positions; query `status=open` is accepted",
  '`GET /api/positions` lists the open positions of the caller; `status=open`, `closed` and `all` are accepted.',
  { waits: NO_HOLD },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const shut = (await user.opens(player)).position.id
    await user.closes(shut)
    const open = (await user.opens(player)).position.id
    const ids = async (query: string) =>
      (await user.get(`/api/positions${query}`, Positions)).positions.map(({ id }) => id)
    assert.deepEqual(await ids(''), [open])
    assert.deepEqual(await ids('?status=open'), [open])
    assert.deepEqual(await ids('?status=closed'), [shut])
    assert.deepEqual((await ids('?status=all')).toSorted(), [open, shut].toSorted())
    refuses(await user.ask('GET', '/api/positions?status=lost'), 400)
  },
)

check(
  '4.3.6',
  'PATCH | `/api/positions/:id` | modify SL/TP of an open position',
  '`PATCH /api/positions/:id` modifies the levels of an open position.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { id, openPrice } = (await user.opens(player, { direction: 'short' })).position
    const [stopLoss, takeProfit] = [Math.ceil(openPrice + 9), Math.floor(openPrice - 9)]
    says(await user.ask('PATCH', `/api/positions/${id}`, { body: { stopLoss, takeProfit } }), 200, {
      position: { id, stopLoss, takeProfit },
    })
    refuses(await user.ask('PATCH', `/api/positions/${id}`, { body: { stopLoss: 'low' } }), 400)
  },
)

check(
  '4.3.7',
  'POST | `/api/positions/:id/close` | header `Idempotency-Key`; body `clientRequestId` string',
  '`POST /api/positions/:id/close` takes a key in the header; the same key gets the same answer.',
  { waits: NO_HOLD },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { id } = (await user.opens(player)).position
    const close = (key: string) => user.close(id, {}, { 'idempotency-key': key })
    const key = t.newName()
    const first = await close(key)
    says(first, 200, { position: { id, status: 'closed' } })
    const again = await close(key)
    assert.deepEqual([again.status, again.body, again.headers.get('idempotent-replayed')], [200, first.body, 'true'])
    refuses(await close(t.newName()), 409, { error: 'position is not open' })
  },
)

check(
  '4.3.8',
  'body `clientRequestId` string',
  'On a close `clientRequestId` is the key when there is no header.',
  { waits: NO_HOLD },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { id } = (await user.opens(player)).position
    const body = { clientRequestId: t.newName() }
    const first = await user.close(id, body, {})
    const again = await user.close(id, body, {})
    says(first, 200)
    assert.deepEqual([again.status, again.body, again.headers.get('idempotent-replayed')], [200, first.body, 'true'])
  },
)

check(
  '4.3.9',
  'GET | `/api/trades` | legacy trade history; query `limit`, `offset` … A legacy buy-and-hold share model remains readable (trade history, portfolio)',
  '`GET /api/trades` is the legacy trade history, with `limit` and `offset`.',
  async (t) => {
    const user = await t.user()
    assert.deepEqual((await user.get('/api/trades?limit=10&offset=0', LegacyTrades)).trades, [])
    for (const query of ['limit=0', 'limit=x', 'offset=-1']) refuses(await user.ask('GET', `/api/trades?${query}`), 400)
  },
)

check(
  '4.3.10',
  'GET | `/api/portfolio` | legacy share holdings, wallet balance, total PnL',
  '`GET /api/portfolio` has legacy holdings, wallet balance and total PnL.',
  { waits: NO_HOLD },
  async (t) => {
    const [user, crowd, player] = [await t.user(), await t.user(), await t.player()]
    const { id } = (await user.opens(player)).position
    await crowd.opens(player, { lotSize: 10 })
    const { position } = await user.closes(id)
    const portfolio = await t.eventually('the PnL', async () => {
      const found = await user.get('/api/portfolio', Portfolio)
      return found.totalPnl === 0 ? undefined : found
    })
    assert.deepEqual(portfolio.holdings, [])
    near(portfolio.totalPnl, position.realizedPnl ?? NaN, 'total PnL')
    near(portfolio.balance, 10_000 + (position.realizedPnl ?? NaN), 'the balance')
  },
)

check('4.3.11', 'GET | `/api/wallet` | wallet balance', '`GET /api/wallet` is the wallet of the caller.', async (t) => {
  assert.partialDeepStrictEqual(await (await t.user()).get('/api/wallet', Wallet), {
    balance: 10_000,
    currency: 'UNIT',
  })
})

check(
  '4.3.12',
  'No direct legacy buy/sell endpoint exists. … but has no direct buy/sell endpoint.',
  'No direct legacy buy or sell endpoint exists.',
  async (t) => {
    const user = await t.user()
    for (const path of [
      '/api/trades/buy',
      '/api/trades/sell',
      '/api/buy',
      '/api/sell',
      '/api/portfolio/buy',
      '/api/portfolio/sell',
    ]) {
      refuses(await user.post(path, { quantity: 1 }), 404)
    }
    refuses(await user.post('/api/trades', { quantity: 1 }), 405)
  },
)

check(
  '4.3.13',
  'duplicate or in-flight `Idempotency-Key` without a usable cached result',
  'Commands at once are each carried out once: ten opens under one key are one position.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const order = { instrumentId: player.id, direction: 'long', lotSize: 0.1, clientPrice: player.currentPrice }
    const headers = { 'idempotency-key': t.newName() }
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => user.ask('POST', '/api/positions/open', { body: order, headers })),
    )
    for (const reply of replies) assert([201, 409].includes(reply.status), `${reply.status} ${reply.text}`)
    for (const reply of replies)
      if (reply.status === 409) refuses(reply, 409, { error: 'duplicate request; please retry' })
    assert.equal((await user.get('/api/positions', Positions)).positions.length, 1)
  },
)
