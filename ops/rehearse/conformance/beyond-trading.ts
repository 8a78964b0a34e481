/** Beyond the specification: fills, levels, ledger and lots, which it leaves open, and the close of a part. */
import assert from 'node:assert/strict'
import { beyondInto, type Check, near, refuses, says } from './check.ts'
import { closedOne } from './scenes.ts'
import { Instrument, Ledger, Positions, Quote, Trade, Wallet } from './shapes.ts'
import { read } from './visitor.ts'
import { NO_HOLD } from './waits.ts'

export const checks: Check[] = []
const check = beyondInto(checks)

check(
  '10.2.1',
  'Every change of a wallet is in its ledger, whose entries add up to the balance, also as CSV.',
  { waits: NO_HOLD },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { position } = await user.opens(player, { lotSize: 2 })
    await user.closes(position.id)
    await user.opens(player)
    const { balance } = await user.get('/api/wallet', Wallet)
    const { entries } = await user.get('/api/wallet/ledger', Ledger)
    near(
      entries.reduce((sum, { amount }) => sum + amount, 0),
      balance,
      'the sum of the entries',
    )
    const csv = await user.ask('GET', '/api/wallet/ledger.csv')
    assert.equal(csv.status, 200)
    const lines = csv.text.trimEnd().split('\r\n').slice(1)
    assert.equal(lines.length, entries.length, csv.text)
    near(
      lines.reduce((sum, line) => sum + Number(line.split(',')[2]), 0),
      balance,
      'the sum of the lines',
    )
  },
)

check('10.2.2', 'The crowd moves a price by at most 0.2 % of its base.', async (t) => {
  const player = await t.player('GK')
  for (let n = 0; n < 3; n++) await (await t.user()).opens(player, { lotSize: 100 })
  const seen = await (await t.observer()).get(`/api/instruments/${player.id}`, Instrument)
  const part = (seen.currentPrice - seen.live_base_price) / seen.live_base_price
  assert(part > 0 && part <= 0.002 + 1e-6, `the crowd's part is ${part}`)
})

check(
  '10.2.3',
  'A fresh position shows PnL 0, and a round trip alone is exactly zero-sum.',
  { waits: NO_HOLD },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { position } = await user.opens(player, { lotSize: 7.77 })
    assert.equal(position.unrealizedPnl, 0)
    const closed = await user.closes(position.id)
    assert.deepEqual([closed.position.realizedPnl, closed.wallet.balance], [0, 10_000])
    const after = await user.get(`/api/instruments/${player.id}`, Instrument)
    assert.equal(after.currentPrice, player.currentPrice)
  },
)

check('10.2.4', 'A position shows where its loss has eaten its margin: 10 % from its open price.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const long = (await user.opens(player)).position
  const short = (await user.opens(player, { direction: 'short' })).position
  near(long.washoutPrice ?? NaN, long.openPrice * 0.9, 'the washout price of the long', 0.000_001)
  near(short.washoutPrice ?? NaN, short.openPrice * 1.1, 'the washout price of the short', 0.000_001)
})

check('10.2.5', 'A quote says what an open would cost, and changes nothing.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const order = {
    instrumentId: player.id,
    direction: 'long',
    lotSize: 2,
    stopLoss: player.currentPrice - 10,
    takeProfit: player.currentPrice + 10,
  }
  const quote = read(await user.post('/api/positions/quote', order), Quote)
  assert.equal(quote.refusal, null)
  assert.equal((await user.get('/api/wallet', Wallet)).balance, 10_000)
  const { position } = read(await user.order(player, { ...order }), Trade)
  near(position.openPrice, quote.fillPrice, 'the fill price')
  near(position.margin, quote.margin, 'the margin')
  near(position.washoutPrice ?? NaN, quote.washoutPrice ?? NaN, 'the washout price')
})

check(
  '10.2.6',
  'A system close may set off others: a trade fires the levels that its own price reaches.',
  { waits: NO_HOLD },
  async (t) => {
    const [holder, crowd, player] = [await t.user(), await t.user(), await t.player()]
    const takeProfit = player.currentPrice + 0.02
    const { position } = await holder.opens(player, { lotSize: 0.01, takeProfit })
    await crowd.opens(player, { lotSize: 50 })
    const closed = await closedOne(t, holder, 'the take-profit')
    assert.deepEqual([closed.id, closed.closedBy], [position.id, 'take_profit'])
  },
)

check(
  '10.2.7',
  'A closed position is neither closed nor changed again: 409, with the position as it is.',
  { waits: NO_HOLD },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { id } = (await user.opens(player)).position
    await user.closes(id)
    const facts = { error: 'position is not open', position: { id, status: 'closed' } }
    refuses(await user.close(id), 409, facts)
    refuses(await user.ask('PATCH', `/api/positions/${id}`, { body: { stopLoss: null } }), 409, facts)
  },
)

check('10.2.8', 'The smallest lot is 0.01, the largest 100, in steps of 0.01.', async (t) => {
  const [user, player] = [await t.user(), await t.player('GK')]
  says(await user.order(player, { lotSize: 0.01 }), 201, { position: { lotSize: 0.01 } })
  says(await user.order(player, { lotSize: 1.23 }), 201, { position: { lotSize: 1.23 } })
  says(await (await t.user()).order(player, { lotSize: 100 }), 201, { position: { lotSize: 100 } })
})

check(
  '10.2.9',
  'A close of a part books that part, and leaves the rest open at its entry, with its share of the margin.',
  { waits: NO_HOLD },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const whole = (await user.opens(player, { lotSize: 1 })).position
    const reply = await user.close(whole.id, { lotSize: 0.25 })
    const { position: part } = read(reply, Trade)
    assert.partialDeepStrictEqual(part, { lotSize: 0.25, status: 'closed', openPrice: whole.openPrice })
    const { positions } = await user.get('/api/positions', Positions)
    assert.partialDeepStrictEqual(positions, [{ id: whole.id, lotSize: 0.75, openPrice: whole.openPrice }])
    near(part.margin + (positions[0]?.margin ?? NaN), whole.margin, 'the margins together')
    await user.closes(whole.id)
    near((await user.get('/api/wallet', Wallet)).balance, 10_000 + (part.realizedPnl ?? NaN), 'the balance', 0.01)
  },
)
