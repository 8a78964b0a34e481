/** Protection (actors/match/protection) as a user of one server meets it: over HTTP and on a socket. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { FeedClient } from '../rooms/realtime-rig.ts'
import { eachDataPlace } from '../support/data-place.ts'
import { P } from '../support/fixtures.ts'
import { PATIENCE } from '../support/process.ts'
import { buys, openMatch, scores } from '../support/protected-match.ts'

const Moved = z.looseObject({
  openPrice: z.number(),
  closePrice: z.number(),
  realizedPnl: z.number(),
  moved: z.array(
    z.strictObject({ fill: z.enum(['open', 'close']), at: z.iso.datetime(), by: z.number(), reason: z.string() }),
  ),
  movableUntil: z.iso.datetime(),
})
const Notices = z.looseObject({ notifications: z.array(z.looseObject({ type: z.string(), data: z.looseObject({}) })) })
const Ledger = z.looseObject({ entries: z.array(z.looseObject({ kind: z.string(), amount: z.number() })) })

const isMove = (notification: unknown): boolean =>
  z.looseObject({ type: z.literal('fill_moved') }).safeParse(notification).success

eachDataPlace((settle) => {
  it('[N2] opened and closed just before a goal: both prices are those after it, and the answer is repeated as given', async () => {
    const rig = await openMatch(await settle(), 'on')
    onTestFinished(() => rig.close())
    const ada = await rig.user('Ada')
    const { id } = await buys(ada)
    const answer = await ada.close(id, id)
    const pressed = z.looseObject({ position: Moved.partial() }).parse(answer.body).position
    const before = await ada.wallet()
    expect(before.freeMargin).toBeLessThan(before.balance)
    const base = (await ada.instrument(P(11))).live_base_price
    await scores(rig)
    const by = (await ada.instrument(P(11))).live_base_price - base
    expect(by).toBeGreaterThan(0)

    const now = await ada.get(`/api/positions/${id}`, Moved)
    expect(now.moved.map(({ fill, reason }) => [fill, reason])).toEqual([
      ['open', 'event'],
      ['close', 'event'],
    ])
    for (const move of now.moved) expect(move.by).toBeCloseTo(by, 6)
    expect(now.closePrice).toBeCloseTo(present(pressed.closePrice, 'close price') + by, 6)
    expect(now.realizedPnl).toBeCloseTo((now.closePrice - now.openPrice) * 2 * 5, 5)
    expect(Date.parse(now.movableUntil)).toBeGreaterThan(Date.now())
    const repeated = await ada.close(id, id)
    expect(repeated.body).toEqual(answer.body)
  })

  it('[N4] what a close before a goal gains is booked, its owner is told, and it opens nothing yet', async () => {
    const rig = await openMatch(await settle(), 'on')
    onTestFinished(() => rig.close())
    const ada = await rig.user('Ada')
    const { id } = await buys(ada)
    const feed = new FeedClient(await ada.socketUrl())
    await feed.opened
    feed.ask({ type: 'account', id: 1 })
    await vi.waitUntil(() => feed.said.length > 0, PATIENCE)
    // Beyond the window of the news: only the close is in it.
    await rig.jump(50)
    const answer = await ada.close(id, id)
    const pressed = z.looseObject({ position: Moved.partial() }).parse(answer.body).position
    const before = await ada.wallet()
    await scores(rig)
    const { realizedPnl, moved } = await ada.get(`/api/positions/${id}`, Moved)
    expect(moved.map(({ fill }) => fill)).toEqual(['close'])
    const after = await ada.wallet()
    const { entries } = await ada.get('/api/wallet/ledger', Ledger)
    const booked = entries.filter(({ kind }) => kind === 'moved').map(({ amount }) => amount)
    const gained = realizedPnl - present(pressed.realizedPnl, 'realised PnL')
    expect(booked).toHaveLength(1)
    expect(booked[0]).toBeCloseTo(gained, 6)
    expect(after.balance - before.balance).toBeCloseTo(gained, 6)
    expect(after.freeMargin).toBeCloseTo(before.freeMargin, 6)
    const told = () => feed.said.find(({ type, notification }) => type === 'notification' && isMove(notification))
    await vi.waitUntil(told, PATIENCE)
    const { notifications } = await ada.get('/api/notifications', Notices)
    expect(notifications.map(({ type }) => type)).toContain('fill_moved')
  })

  it('[N1] with protection off nothing of it is shown or felt', async () => {
    const rig = await openMatch(await settle(), 'off')
    onTestFinished(() => rig.close())
    const ada = await rig.user('Ada')
    const { id } = await buys(ada)
    await ada.close(id, id)
    const closed = await ada.get(`/api/positions/${id}`, z.looseObject({}))
    await scores(rig)
    expect(await ada.get(`/api/positions/${id}`, z.looseObject({}))).toEqual(closed)
    expect(closed).not.toHaveProperty('moved')
    expect(closed).not.toHaveProperty('movableUntil')
    const { balance, freeMargin } = await ada.wallet()
    expect(freeMargin).toBe(balance)
    expect((await ada.instrument(P(11))).tradingStatus).toBe('OPEN')
  })
})
