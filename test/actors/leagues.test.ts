import { describe, expect, it } from 'vitest'
import { leagueId } from '../../actors/kernel/ids.ts'
import { lots, money, price } from '../../actors/kernel/micros.ts'
import { purseNamed } from '../../actors/kernel/purse.ts'
import { present } from '../../actors/kernel/assert.ts'
import { quoteOf } from '../../actors/market/instrument.ts'
import { committedEvents } from '../../actors/match/committed-events.ts'
import { checkAll } from '../../actors/match/invariants.ts'
import { advance, NEW_CAREER } from '../../actors/community/career.ts'
import { tradeEntriesOf } from '../../db/recent-trades.ts'
import { ActorRig, codeOf, ok } from '../support/actor-rig.ts'
import { instrument, P, p, record, U, u } from '../support/fixtures.ts'

const LEAGUE = leagueId('00000000-0000-4000-8000-00000000000a')
const OTHER = leagueId('00000000-0000-4000-8000-00000000000b')
const HUNDRED = money(u(100))

/** A match in which the crowd has moved the price well above its base. */
async function crowded() {
  const rig = await ActorRig.set({ rules: { holdMs: 0 }, balance: money(u(1_000_000)) })
  for (const user of [U(1), U(2)]) rig.store.join(user, HUNDRED, LEAGUE)
  ok(await rig.opens({ userId: U(3), lots: lots(u(100)) }))
  const standing = () => present(rig.actor.view.instrument(P(1)), 'player')
  expect(quoteOf(standing()).price).toBeGreaterThan(standing().base)
  return { rig, standing }
}

const inLeague = { league: LEAGUE, lots: lots(u(0.5)), clientPrice: p(200) }

describe('in a league', () => {
  it('[T37] orders fill at the base, whatever the crowd does, and move nothing', async () => {
    const { rig, standing } = await crowded()
    const before = standing()
    const { length } = rig.events
    const { position, wallet, exitPrice, price: seen } = ok(await rig.opens(inLeague))
    expect([position.purse, position.openPrice, exitPrice, seen]).toEqual([LEAGUE, p(200), p(200), p(200)])
    expect([wallet.balance, wallet.marginUsed]).toEqual([money(u(50)), money(u(50))])
    ok(await rig.closes(position.id))
    expect(standing()).toEqual(before)
    const events = rig.events.slice(length)
    expect(events.map(({ kind }) => kind)).toEqual(['position_opened', 'position_closed'])
    expect(tradeEntriesOf(events), 'on the public list of trades').toEqual([])
    expect(rig.store.walletOf(U(1), LEAGUE).balance).toBe(HUNDRED)
    expect(rig.store.walletOf(U(1), 'main').balance).toBe(money(u(1_000_000)))
  })

  it('[T37] levels and washouts follow the base alone', async () => {
    const { rig, standing } = await crowded()
    const { position } = ok(await rig.opens({ ...inLeague, stopLoss: p(199), takeProfit: p(201) }))
    // The crowd pushes the price beyond both levels.
    ok(await rig.opens({ userId: U(3), lots: lots(u(100)), clientPrice: quoteOf(standing()).price }))
    ok(
      await rig.opens({ userId: U(3), direction: 'short', lots: lots(u(100)), clientPrice: quoteOf(standing()).price }),
    )
    expect(rig.actor.view.position(position.id)).toBeDefined()
    expect(codeOf(await rig.changes(position.id, { takeProfit: p(199) })), 'below the base').toBe('levels_invalid')
    const rates = await ActorRig.set({
      record: record({
        instruments: [instrument(1, { base: price(p(202)) }), instrument(2)],
        openPositions: [{ ...position, takeProfit: p(201) }],
      }),
    })
    rates.store.join(U(1), money(u(50)), LEAGUE)
    await rates.actor.clock()
    const closed = rates.events.find((event) => event.kind === 'position_closed')
    expect(closed).toMatchObject({ position: { close: { by: 'take_profit', price: p(202) } } })
  })

  it('[T37] a purse pays for its own orders, and one that the user has not joined for none', async () => {
    const { rig } = await crowded()
    expect(await rig.opens({ ...inLeague, lots: lots(u(1.5)) })).toMatchObject({
      refusal: { code: 'insufficient_margin', available: HUNDRED, maxLots: lots(u(1)) },
    })
    expect(await rig.opens({ ...inLeague, league: OTHER })).toMatchObject({
      refusal: { code: 'insufficient_margin', available: 0 },
    })
    const means = {
      [LEAGUE]: { available: HUNDRED, openPositions: 0 },
      main: { available: money(0), openPositions: 0 },
    }
    const quoted = rig.quotes({ league: LEAGUE, means })
    expect(quoted).toMatchObject({ fillPrice: p(200), exitPrice: p(200), impact: 0, refusal: null })
    expect(quoted.maxLots).toBe(lots(u(1)))
    expect(rig.quotes({ means }).refusal).toMatchObject({ code: 'insufficient_margin' })
  })

  it('[T37] full time pays the base in a league, and the mean of the book outside', async () => {
    const { rig, standing } = await crowded()
    ok(await rig.opens(inLeague))
    await rig.actor.end('full_time')
    await rig.actor.clock()
    const closes = rig.events.flatMap((event) => (event.kind === 'position_closed' ? [event.position] : []))
    const paid = new Map(closes.map(({ purse, close }) => [purse, close.price]))
    expect(paid.get(LEAGUE)).toBe(standing().base)
    expect(paid.get('main')).toBe(standing().settlement)
    expect(paid.get('main')).toBeGreaterThan(standing().base)
  })

  it('[T37] positions are no part of the imbalance after a crash, either', async () => {
    const { rig, standing } = await crowded()
    ok(await rig.opens(inLeague))
    const before = standing()
    const loaded = await rig.load()
    checkAll(loaded.view)
    expect(loaded.view.instrument(P(1))?.imbalance).toBe(before.imbalance)
    ok(await rig.closes(present([...loaded.view.positionsOf(U(1))][0], 'position').id))
  })

  it('[R15] nothing counts for a career: no XP, no boards, no badges', async () => {
    const { rig } = await crowded()
    const { length } = rig.events
    const { position } = ok(await rig.opens(inLeague))
    ok(await rig.closes(position.id))
    const events = committedEvents(rig.events.slice(length))
    expect(events).toHaveLength(2)
    for (const event of events) expect(advance(NEW_CAREER, event)).toBe(NEW_CAREER)
  })
})

it('names a purse by its name or a UUID in lower case, and nothing else', () => {
  expect([purseNamed('main'), purseNamed('practice'), purseNamed(LEAGUE)]).toEqual(['main', 'practice', LEAGUE])
  for (const name of ['', 'Main', LEAGUE.toUpperCase(), `${LEAGUE} `, 'house'])
    expect(purseNamed(name), name).toBeNull()
})
