/** Protection (actors/match/protection) as a user of one server meets it: over HTTP, on a socket and on the page. */
import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { playerId } from '../../actors/kernel/ids.ts'
import { FeedClient } from '../rooms/realtime-rig.ts'
import { complaintsOf, hasBrowser, launch } from '../support/browser.ts'
import { type DataPlace, eachDataPlace, embeddedPlace } from '../support/data-place.ts'
import { GOAL, P, player } from '../support/fixtures.ts'
import type { HttpClient } from '../support/http-client.ts'
import { PATIENCE } from '../support/process.ts'
import { ServerRig } from '../support/server-rig.ts'

const ADMIN = { ADMIN_EMAILS: 'ann@synthetic.invalid' }
/** Where to keep screenshots, for people to look at. */
const SHOTS = process.env['SHOTS']

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

/** A server with one match in play, and without a hold. */
async function open(place: DataPlace, protection: 'on' | 'off'): Promise<ServerRig> {
  const rig = await ServerRig.open({ ...place, env: { ...place.env, ...ADMIN } })
  const ann = await rig.user('Ann')
  for (const [key, value] of [
    ['trading.hold_secs', 0],
    ['trading.protection', protection],
  ] as const) {
    expect(await ann.request('PUT', `/api/admin/settings/${key}`, { value })).toMatchObject({ status: 200 })
  }
  // Prices follow a changed setting from the next update on, by a move of its own.
  await rig.plays(1)
  return rig
}

/** The match's first player scores, as list and statistics show. */
const scores = (rig: ServerRig) =>
  rig.plays(1, {
    home: { id: 1, name: 'Harbour', goals: 1 },
    events: [{ ...GOAL, playerId: playerId(11), playerName: 'Player 11' }],
    players: [11, 12, 13, 14].map((n) => player(n, { details: n === 11 ? { 52: 1 } : {} })),
  })

async function buys(user: HttpClient) {
  const { last_published_price: clientPrice } = await user.instrument(P(11))
  return (await user.opens({ instrumentId: P(11), direction: 'long', lotSize: 2, clientPrice })).position
}

eachDataPlace((settle) => {
  it('[N2] opened and closed just before a goal: both prices are those after it, and the answer is repeated as given', async () => {
    const rig = await open(await settle(), 'on')
    try {
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
    } finally {
      await rig.close()
    }
  })

  it('[N4] what a close before a goal gains is booked, its owner is told, and it opens nothing yet', async () => {
    const rig = await open(await settle(), 'on')
    try {
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
    } finally {
      await rig.close()
    }
  })

  it('[N1] with protection off nothing of it is shown or felt', async () => {
    const rig = await open(await settle(), 'off')
    try {
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
    } finally {
      await rig.close()
    }
  })
})

it.skipIf(!hasBrowser)('the page says until when a close may move, and how far it has', async () => {
  const [rig, browser] = [await open(await embeddedPlace(), 'on'), await launch()]
  try {
    const closers = await Promise.all(['en', 'es'].map((language) => rig.user(`Ada ${language}`)))
    const ids: string[] = []
    for (const ada of closers) ids.push((await buys(ada)).id)
    await rig.jump(50)
    for (const [n, ada] of closers.entries()) {
      const id = present(ids[n], 'position')
      expect((await ada.close(id, id)).status).toBe(200)
    }
    const visit = async (n: number, locale: string) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale })
      const ada = present(closers[n], 'user')
      const cookies = ['game_access', 'game_refresh'].map((name) => ({ name, value: ada.cookie(name), url: rig.url }))
      await context.addCookies(cookies)
      const page = await context.newPage()
      page.setDefaultTimeout(PATIENCE.timeout)
      const complaints = complaintsOf(page, [new URL(rig.url).origin])
      await page.goto(`${rig.url}/#/positions`)
      await page.getByRole('button', { name: /^(Closed|Cerradas)/ }).click()
      const says = (what: RegExp) => page.locator('.moves').getByText(what).waitFor()
      return { page, complaints, says }
    }
    const [english, spanish] = [await visit(0, 'en'), await visit(1, 'es')]
    await english.says(/^May still move until \d/)
    await spanish.says(/^Aún puede moverse hasta las \d/)
    await scores(rig)
    await english.says(/^Exit moved by \+\d.* · May still move until \d/)
    await spanish.says(/^Salida movida \+\d.* · Aún puede moverse hasta las \d/)
    for (const [n, { page, complaints }] of [english, spanish].entries()) {
      if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/moves-${n}.png` })
      expect(complaints).toEqual([])
    }
  } finally {
    await browser.close()
    await rig.close()
  }
})
