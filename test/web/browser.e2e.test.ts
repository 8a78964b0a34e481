/** The client in a real browser against the whole program. */
import type { BrowserContext, Page, BrowserContextOptions } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { userId } from '../../actors/kernel/ids.ts'
import { accessProblems, answer, hasBrowser } from '../support/browser.ts'
import { browsedServer } from '../support/browsed-server.ts'

const PHONE = { width: 390, height: 844 }
const SMALL = { width: 320, height: 640 }

const HOLD_SECS = 180
const Listed = z.looseObject({ id: z.string(), currentPrice: z.number(), tradingStatus: z.string() })
const isOpen = ({ tradingStatus }: z.output<typeof Listed>): boolean => tradingStatus === 'OPEN'

describe.skipIf(!hasBrowser)('in a browser', () => {
  const site = browsedServer('boss')

  /** Signs a new user in through the page. */
  async function visit(name: string, options: BrowserContextOptions = {}) {
    const { context, page, complaints } = await site.visit({ viewport: { width: 1440, height: 900 }, ...options })
    await site.enter(page, name)
    // A phone begins with the match.
    const trade = page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Trade' })
    if ((page.viewportSize()?.width ?? 0) <= 760) await trade.click()
    await page
      .getByRole('button', { name: /^Go long/ })
      .and(page.locator(':enabled'))
      .waitFor()
    return { context, page, complaints }
  }

  /** Plays on until a match can be traded: at full time the next one begins a little later. */
  async function findOpenMatch(): Promise<void> {
    const scout = await site.server.user('Scout')
    const isTraded = async () => {
      if ((await scout.matches()).some(({ tradeWindow }) => tradeWindow.open)) return true
      site.server.jump(2)
      return false
    }
    // Slowly: the server looks once a second, and must not leap over the whole match.
    await expect.poll(isTraded, { timeout: 40_000, interval: 100 }).toBe(true)
  }

  const goLong = (page: Page) => page.getByRole('button', { name: /^Go long/ }).click()
  const enabled = (page: Page, name: RegExp) => page.getByRole('button', { name }).and(page.locator(':enabled'))
  const openCount = (page: Page, count: number) =>
    page.getByRole('button', { name: `Open ${count}`, exact: true }).waitFor()
  const me = async (context: BrowserContext) =>
    z.looseObject({ userId: z.string() }).parse(await (await context.request.get(`${site.server.url}/api/me`)).json())

  it('a user signs in, goes long, and sees their position and the time left of its hold', async () => {
    const { page, complaints } = await visit('Ada U10')
    await goLong(page)
    // The toast, from the account stream, goes after some seconds.
    await Promise.all([openCount(page, 1), page.getByText(/^Long /).waitFor()])
    const held = page.locator('.held > li')
    expect(await held.getByText('▲ long').count()).toBe(1)
    const close = held.getByRole('button', { name: /^(3:00|2:\d\d)$/ })
    expect(await close.isDisabled(), 'the hold has not ended').toBe(true)

    site.server.jump(181)
    await page.reload()
    await page.locator('.held').getByRole('button', { name: 'Close' }).click()
    await Promise.all([openCount(page, 0), page.getByText(/^Closed · /).waitFor()])
    expect(complaints).toEqual([])
  })

  it('a toast names a player of a match that the page does not know yet', async () => {
    const { page } = await visit('Ada U11')
    const address = `${site.server.url}/api/instruments`
    const Names = z.object({ instruments: z.array(Listed.extend({ name: z.string() })) })
    const { instruments } = Names.parse(await (await page.request.get(address)).json())
    const { id, name, currentPrice } = present(instruments.find(isOpen), 'a player')
    const others = instruments.filter((one) => one.id !== id)
    await page.route(address, (route) => route.fulfill({ json: { instruments: others } }))
    // What was opened before the page hears of the account is in its list, without a toast.
    const hasHeard = page
      .waitForEvent('websocket')
      .then((socket) =>
        socket.waitForEvent('framereceived', ({ payload }) => String(payload).includes('"type":"account"')),
      )
    await page.reload()
    await Promise.all([hasHeard, enabled(page, /^Go long/).waitFor()])
    const data = { instrumentId: id, direction: 'long', lotSize: 0.1, clientPrice: currentPrice }
    const [opened] = await Promise.all([
      page.request.post(`${site.server.url}/api/positions/open`, { data }),
      page.locator('.toast').getByText(`Long ${name}`).waitFor(),
    ])
    expect(opened.status()).toBe(201)
  })

  it('a press on a shirt counts, though its price moves meanwhile', async () => {
    const { page } = await visit('Ada U111')
    await page.goto(`${site.server.url}/#/match`)
    const price = page.locator('button.shirt .at').nth(5)
    const before = await price.textContent()
    await price.hover()
    await page.mouse.down()
    for (let plays = 0; plays < 20 && (await price.textContent()) === before; plays++) await site.server.play(5)
    expect(await price.textContent()).not.toBe(before)
    await page.mouse.up()
    await page.getByRole('dialog').waitFor()
  })

  it('a stop-loss that fires shows a toast, and the position moves to the closed list', async () => {
    const { page, complaints } = await visit('Ada U12')
    const { instruments } = z
      .object({ instruments: z.array(Listed) })
      .parse(await (await page.request.get(`${site.server.url}/api/instruments`)).json())
    // News may hold some of them.
    const tradable = instruments.filter(isOpen).slice(0, 12)
    expect(tradable.length).toBeGreaterThan(5)
    for (const { id, currentPrice } of tradable) {
      const data = { instrumentId: id, direction: 'long', lotSize: 0.1, clientPrice: currentPrice }
      expect((await page.request.post(`${site.server.url}/api/positions/open`, { data })).status()).toBe(201)
    }
    await openCount(page, tradable.length)
    // After the hold a level may be near: just below the prices of all of them, since at least one price will fall.
    await site.server.play(HOLD_SECS)
    const { positions } = z
      .object({ positions: z.array(z.looseObject({ id: z.string(), exitPrice: z.number() })) })
      .parse(await (await page.request.get(`${site.server.url}/api/positions`)).json())
    for (const { id, exitPrice } of positions) {
      const stopLoss = Math.floor(exitPrice * 9_999) / 10_000
      await page.request.patch(`${site.server.url}/api/positions/${id}`, { data: { stopLoss } })
    }
    // It is gone after six seconds, and a slow machine plays for longer.
    const shown = page
      .getByText(/^Stop-loss hit · /)
      .first()
      .waitFor()
    // Beyond half-time, when prices stand still.
    await Promise.all([shown, site.server.play(150)])
    await page.getByRole('button', { name: 'Closed', exact: true }).click()
    await page
      .locator('.held.closed')
      .getByText(/^Stop-loss hit/)
      .first()
      .waitFor()
    // The one that closed first: others may close yet, and are listed above it.
    const row = page.locator('.held.closed > li', { hasText: 'Stop-loss hit' }).last()
    await row.getByRole('button', { name: 'What moved it?' }).click()
    const told = row.getByRole('status').getByRole('list').getByRole('listitem')
    await told.getByText(/^Minutes, passes and duels [+−]?\d+\.\d\d%$/).waitFor()
    await row.getByText(/your stop at \d+\.\d\d was reached\.$/i).waitFor()
    // And the chosen player's last move, with its size.
    await page
      .locator('.chart .reason')
      .getByText(/^[A-Z].*: [+−]?\d+\.\d\d%$/)
      .waitFor()
    // What is pointed at says why, too.
    await page.locator('.plot').hover({ position: { x: 60, y: 60 } })
    await page.locator('.chart .reason.touched').waitFor()
    await site.shoot(page, 'reasons-1280')
    expect(complaints).toEqual([])
  })

  it.each([{ width: 1280, height: 900 }, PHONE])(
    'a fan who has never traded is led through a first trade on $width px, in six clicks at most, and once',
    async (viewport) => {
      await findOpenMatch()
      const { page, complaints } = await visit(`Ada U38 ${viewport.width}`, { viewport, colorScheme: 'light' })
      const tour = page.getByRole('region', { name: 'First steps' })
      for (const title of ['Choose a player', 'Long or short', 'Know the worst', 'Send it']) {
        await tour.getByText(title).waitFor()
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), title).toBe(0)
        if (title === 'Long or short') await page.locator('[data-tour=ways] .ways').waitFor()
        if (title !== 'Send it') await tour.getByRole('button', { name: 'Next' }).click()
      }
      expect(await accessProblems(page)).toEqual([])
      await site.shoot(page, `tour-${viewport.width}`, false)
      // Kick off, on a phone the view, three times Next, and the order.
      await goLong(page)
      await tour.waitFor({ state: 'detached' })
      if (viewport.width < 760) {
        await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Positions' }).click()
      }
      await openCount(page, 1)
      await page.reload()
      await openCount(page, 1)
      expect(await tour.count()).toBe(0)
      expect(complaints).toEqual([])
    },
  )

  it('an order whose answers are lost opens one position, however often it is pressed', async () => {
    const { page } = await visit('Ada U30')
    let isLosing = true
    let arrived = 0
    const keys = new Set<string | undefined>()
    await page.route('**/api/positions/open', async (route) => {
      keys.add(route.request().headers()['idempotency-key'])
      if (!isLosing) return route.continue()
      await route.fetch()
      arrived++
      await route.abort('connectionreset')
    })
    await goLong(page)
    await page.getByText('We do not know yet whether your order went through').waitFor({ timeout: 20_000 })
    expect(arrived).toBeGreaterThan(1)
    expect(await page.locator('button.send').isDisabled(), 'nothing else is sent before').toBe(true)
    // The order outlives the page.
    await page.reload()
    await page.getByText('We do not know yet whether your order went through').waitFor()
    isLosing = false
    // It is asked without a press, now and then.
    await page.getByText('We do not know yet').waitFor({ state: 'detached', timeout: 30_000 })
    await openCount(page, 1)
    expect(keys.size).toBe(1)
  })

  it('the preview follows the price without asking, and an idle page hardly asks at all', async () => {
    const { page } = await visit('Ada U31')
    await page
      .getByLabel('Cost')
      .getByText(/^\d+\.\d\d$/)
      .first()
      .waitFor()
    const cost = () => page.getByLabel('Cost').innerText()
    const before = await cost()
    await page.route('**/api/positions/quote', (route) => route.abort())
    await site.server.play(30)
    await expect.poll(cost, { timeout: 10_000 }).not.toBe(before)
    await page.unroute('**/api/positions/quote')
    await page.waitForTimeout(3_000) // until what the moves have set off is over

    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/api/')) asked.push(new URL(request.url()).pathname)
    })
    await page.waitForTimeout(10_000)
    expect(asked.length, asked.join(' ')).toBeLessThanOrEqual(2)
  })

  it('a device that goes offline says so at once, with the age of the prices', async () => {
    const { page, context } = await visit('Ada U32')
    await context.setOffline(true)
    await page.getByText(/^Reconnecting\. Prices are \d+ s old\.$/).waitFor({ timeout: 2_500 })
    await context.setOffline(false)
    await page.getByText(/^Reconnecting/).waitFor({ state: 'detached' })
  })

  it('after a lost connection the page shows the current state, without repeated toasts', async () => {
    const { page, context } = await visit('Ada U13')
    const { userId: id } = await me(context)
    await goLong(page)
    await openCount(page, 1)
    await context.setOffline(true)
    site.server.disconnect(userId(id))
    await page.getByText(/^Reconnecting\. Prices are \d+ s old\.$/).waitFor()
    expect(await page.getByRole('button', { name: /^Go long/ }).isDisabled()).toBe(true)

    // Meanwhile the user opens another position elsewhere.
    const [player] = z
      .object({ instruments: z.array(Listed) })
      .parse(await (await context.request.get(`${site.server.url}/api/instruments`)).json())
      .instruments.filter(isOpen)
    const order = { instrumentId: player?.id, direction: 'short', lotSize: 0.2, clientPrice: player?.currentPrice }
    expect((await context.request.post(`${site.server.url}/api/positions/open`, { data: order })).status()).toBe(201)

    await context.setOffline(false)
    await openCount(page, 2)
    expect(
      await page
        .locator('.toast')
        .getByText(/^Short /)
        .count(),
    ).toBe(1)
    await page
      .getByRole('button', { name: /^Go long/ })
      .and(page.locator(':enabled'))
      .waitFor()
  })

  it.each([PHONE, SMALL])('on a phone of $width px the page fits and shows one view at a time', async (viewport) => {
    const { page, complaints } = await visit('Ada U14', { viewport, hasTouch: true })
    const overflow = () => page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    const views = page.getByRole('navigation', { name: 'Views' })
    for (const [view, sight] of [
      ['Match', '.grass'],
      ['Players', '.market'],
      ['Trade', '.ticket'],
      ['Positions', '.positions'],
    ] as const) {
      await views.getByRole('button', { name: view }).click()
      await page.locator(sight).waitFor()
      expect(await overflow(), view).toBe(0)
    }
    await page.context().setOffline(true)
    await page.getByText(/^Reconnecting/).waitFor()
    expect(await overflow(), 'offline').toBe(0)
    await page.context().setOffline(false)
    await page.getByText(/^Reconnecting/).waitFor({ state: 'detached' })
    await views.getByRole('button', { name: 'Players' }).click()
    await page.locator('.player').nth(3).click()
    await page.locator('.ticket').waitFor() // picking a player opens the ticket
    // What the page asked for while it was offline fails, of course.
    expect(complaints.filter((text) => !text.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([])
  })

  it('the ticket asks for units, and says what can happen before anything is bought', async () => {
    const { page, complaints } = await visit('Ada U34', { viewport: SMALL, colorScheme: 'light' })
    const ticket = page.locator('.ticket')
    const lots = () => page.getByLabel('Lots', { exact: true }).inputValue()
    await page.getByLabel('Stake in units').fill('100')
    const before = Number(await lots())
    await page.getByLabel('Stake in units').fill('200')
    await expect.poll(async () => Number(await lots()) / before).toBeCloseTo(2, 0)
    const send = page.locator('button.send')
    await expect.poll(() => send.innerText()).toMatch(/^Go long\s+(19\d|200)\.\d\d units · [\d.]+ lots$/)
    await ticket.getByText('10×: a move of 10% against you takes it all.').waitFor()
    const cost = await page.getByLabel('Cost').innerText()
    expect(cost).toMatch(/Washes out at[\s?]+\d+\.\d\d/)
    expect(cost).toMatch(/You can close it after[\s?]+3:00/)
    // Each word has its help, without a mouse.
    const helps = ticket.getByRole('button', { name: /^What is this/ })
    expect(await helps.count()).toBe(9)
    for (let at = 0; at < 9; at++) {
      await helps.nth(at).focus()
      await page.keyboard.press('Enter')
      const told = await helps.nth(at).getAttribute('aria-controls')
      expect((await ticket.locator(`#${told}`).innerText()).length).toBeGreaterThan(30)
    }
    expect(await accessProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    expect(await ticket.locator('.explained').count()).toBe(0)
    // Why it cannot be bought is read between the stake and the button.
    await page.getByLabel('Stake in units').fill('50000')
    await ticket.locator('.trouble:not(:empty)').waitFor()
    const tops: number[] = []
    for (const part of [page.getByLabel('Stake in units'), ticket.locator('.trouble'), send]) {
      const box = present((await part.boundingBox()) ?? undefined, 'box')
      tops.push(box.y, box.y + box.height)
    }
    expect(tops.map(Math.round)).toEqual(tops.map(Math.round).toSorted((a, b) => a - b))
    expect(tops.at(-1)).toBeLessThan(SMALL.height)
    expect(complaints).toEqual([])
  })

  it('a stake of more than a quarter of the wallet is shown once more before it is sent', async () => {
    const { page } = await visit('Ada U35')
    let letGo = (): void => undefined
    const held = new Promise<void>((resolve) => (letGo = resolve))
    await page.route('**/api/positions/quote', async (route) => (await held, route.continue()))
    await page.getByLabel('Stake in units').fill('2600')
    await page.locator('button.send:disabled').waitFor()
    expect(await page.getByRole('alert').allTextContents(), 'it only waits for the quote').not.toContainEqual(/./)
    letGo()
    await page.locator('button.send:enabled').getByText(/units/).waitFor()
    await goLong(page)
    await page.getByRole('heading', { name: /^Look again: 26% of your wallet on / }).waitFor()
    expect(await accessProblems(page)).toEqual([])
    await page.keyboard.press('Tab')
    await page.getByRole('button', { name: 'Change it' }).and(page.locator(':focus')).press('Enter')
    await page.getByRole('heading', { name: /^Look again/ }).waitFor({ state: 'detached' })
    await page.locator('.way.long:focus').waitFor()
    await enabled(page, /^Go long/).dblclick()
    await enabled(page, /^Yes, go long/).waitFor()
    expect(await page.locator('.held > li').count(), 'nothing is sent yet').toBe(0)
    await enabled(page, /^Yes, go long/).dblclick()
    await openCount(page, 1)
    await enabled(page, /^Go long/).waitFor()
    expect(await page.locator('.held > li').count(), 'the second press meets nothing').toBe(1)
  })

  it('Enter in a level of a large order shows the order once more, and again after each change', async () => {
    const { page } = await visit('Ada U39')
    const review = page.getByRole('heading', { name: /^Look again/ })
    const rested = page.locator('.send:enabled[aria-disabled=false]')
    await page.getByLabel('Stake in units').fill('4000')
    await rested.getByText(/units/).waitFor()
    const ticket = page.locator('.ticket')
    await ticket.getByRole('checkbox', { name: 'Stop-loss' }).check()
    const level = ticket.getByLabel('Stop-loss price')
    const offered = Number(await level.inputValue())
    let last = 0
    const enter = async (part: number): Promise<void> => {
      await rested.waitFor()
      last = Number((offered * part).toFixed(2))
      await level.fill(String(last))
      await level.press('Enter')
      await page.locator('.send[aria-disabled=true]').waitFor()
      await rested.waitFor()
      expect(await review.count()).toBe(1)
    }
    await enter(0.999)
    await enter(0.998)
    await page.locator('.way.short').click()
    await review.waitFor({ state: 'detached' })
    await page.locator('.way.long').click()
    await ticket.getByRole('checkbox', { name: 'Stop-loss' }).check()
    await enter(0.998)
    expect(await page.locator('.held > li').count(), 'nothing is sent yet').toBe(0)
    await enabled(page, /^Yes, go long/).click()
    await openCount(page, 1)
    expect(Number(await page.locator('.held').getByLabel('Stop-loss price').inputValue())).toBe(last)
  })

  it('opening a position costs nothing of the account value, and equity stays with the API', async () => {
    const { page } = await visit('Ada U36', { viewport: SMALL })
    const value = () => page.locator('.money > div').first().innerText()
    await expect.poll(value).toMatch(/^Account value\s+10,000\.00$/)
    await page.getByLabel('Stake in units').fill('2000')
    await page.locator('button.send:enabled').getByText(/units/).waitFor()
    await goLong(page)
    await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Positions' }).click()
    await openCount(page, 1)
    const number = (text: string): number => Number(/[\d,]+\.\d\d/.exec(text)?.[0].replace(',', ''))
    expect(Math.abs(number(await value()) - 10_000)).toBeLessThan(100)
    const worth = await page.locator('.worth').innerText()
    // What is not free is the stake, which the fill may take a little above what was written.
    const [, free = '', stakes = ''] =
      /Free\s+([78],\d{3}\.\d\d)\s+Stakes\s+((?:1,9\d\d|2,00\d)\.\d\d)/.exec(worth) ?? []
    expect(number(free) + number(stakes), worth).toBeCloseTo(10_000, 1)
    const wallet = z
      .looseObject({ equity: z.number(), balance: z.number(), unrealizedPnl: z.number() })
      .parse(await (await page.request.get(`${site.server.url}/api/wallet`)).json())
    expect(wallet.equity).toBeCloseTo(wallet.balance + wallet.unrealizedPnl, 6)
    expect(wallet.equity).toBeLessThan(8_200)
  })

  it('the match shows both line-ups with prices, what happened, and how the teams do', async () => {
    const { page, complaints } = await visit('Ada U37', { viewport: PHONE, colorScheme: 'light' })
    await page.goto(`${site.server.url}/#/match`)
    const shirts = page.locator('.grass .shirt')
    await shirts.nth(10).waitFor()
    await page.getByRole('img', { name: /^\d+ to \d+$/ }).waitFor()
    for (const side of ['home', 'away']) {
      const count = await page.locator(`.grass .half.${side} .shirt`).count()
      expect(count, side).toBeGreaterThan(6)
      expect(count, side).toBeLessThanOrEqual(11)
    }
    await page.locator('.movers').getByRole('heading', { name: 'Latest orders' }).waitFor()
    expect(await shirts.first().innerText()).toMatch(/\d+\.\d\d\s+[▲▼•] [+−]?\d+\.\d\d%/)
    await page
      .getByText(/^Bench of /)
      .first()
      .click()
    expect(
      await page
        .locator('.reserves li')
        .getByText(/bench$/)
        .count(),
    ).toBeGreaterThan(5)
    await page.getByRole('row', { name: /Possession/ }).waitFor()
    expect(await accessProblems(page)).toEqual([])
    const prices = () => page.locator('.grass .at').allTextContents()
    const before = await prices()
    await site.server.play(20)
    await expect.poll(prices, { timeout: 10_000 }).not.toEqual(before)
    // What the shirt carries is told before the name.
    const name = await shirts.nth(3).locator('.sr-only').last().textContent()
    await shirts.nth(3).click()
    await page.getByRole('heading', { name: name ?? '' }).waitFor()
    // The ticket comes to the pitch; what is held is on the shirt.
    const sheet = page.getByRole('dialog', { name: name ?? '' })
    await sheet.getByText('Washes out at').waitFor()
    expect(await accessProblems(page)).toEqual([])
    const send = sheet.getByRole('button', { name: /^Hold to go long/ }).and(page.locator(':enabled'))
    await send.click() // a tap does nothing
    await send.dblclick()
    await send.click({ delay: 900 }) // longer than the hold
    await shirts
      .nth(3)
      .getByText(/^Held [+−]?\d+\.\d\d$/)
      .waitFor()
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    expect(page.url()).toMatch(/#\/match\/\d+$/)
    await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Positions' }).click()
    await openCount(page, 1)
    expect(complaints).toEqual([])
  })

  it("the chart's axis names no minute twice and is not cut", async () => {
    const { page } = await visit('Ada U33')
    // Across some minutes: an axis without one names none.
    for (let n = 0; n < 6; n++) {
      await findOpenMatch()
      await site.server.play(20)
    }
    // The chart draws its words on a canvas: where each is drawn is written down.
    await page.addInitScript(`
      const { fillText } = CanvasRenderingContext2D.prototype
      window.drawn = []
      CanvasRenderingContext2D.prototype.fillText = function (text, x, ...rest) {
        const half = this.measureText(text).width / 2
        const isWhole = x - half > -1 && x + half < this.canvas.clientWidth + 1
        window.drawn.push(text + ' at ' + Math.round(x) + (isWhole ? '' : ' cut'))
        return fillText.call(this, text, x, ...rest)
      }`)
    await page.reload()
    const minutes = async (): Promise<string[]> => {
      await page.evaluate('window.drawn = []')
      await page.getByRole('button', { name: /colours$/ }).click() // draws all of it again
      await page.waitForTimeout(300)
      const drawn = z.array(z.string()).parse(await page.evaluate('[...new Set(window.drawn)]'))
      return drawn.filter((word) => /^\d\d?:\d\d(?:\s[AP]M)? at/.test(word))
    }
    await expect.poll(minutes, { timeout: 10_000 }).not.toEqual([])
    const found = await minutes()
    // As the chart moves, marks reach its edges.
    for (let n = 0; n < 6; n++) {
      await page.locator('.chart canvas').first().hover({ force: true })
      await page.mouse.wheel(30, 0)
      await page.mouse.move(1, 1) // the time that is pointed at is drawn elsewhere
      found.push(...(await minutes()).filter((word) => word.endsWith('cut')))
    }
    expect(found.filter((word) => word.endsWith('cut'))).toEqual([])
    const named = found.map((word) => word.split(' at ')[0])
    expect(named).toEqual([...new Set(named)])
  })

  it('[H17] a setting that moves running prices far says so, and is set only when the admin agrees', async () => {
    await findOpenMatch()
    const { page } = await visit('Boss')
    const put = async (key: string, value: number): Promise<Record<string, unknown>> =>
      (await page.request.put(`${site.server.url}/api/admin/settings/${key}`, { data: { value } })).json()
    expect(await put('rules.max_move_pct', 0)).toMatchObject({ value: 0 })
    // As soon as the match has moved a price.
    await vi.waitUntil(
      async () => {
        site.server.jump(1)
        return (await put('scoring.scale?dryRun=true', 5))['needsForce']
      },
      { timeout: 30_000, interval: 200 },
    )
    await page.goto(`${site.server.url}/#/control/settings`)
    await page.getByLabel('Find a setting').fill('scoring.scale')
    const field = page.getByLabel('scoring.scale', { exact: true })
    const before = await field.inputValue()
    const set = async (value: string, agrees: boolean): Promise<void> => {
      await field.fill(value)
      await field.blur()
      const asked = await (agrees ? answer(page, 'Set it', 'a test') : answer(page, 'Cancel'))
      expect(asked).toMatch(/Prices of \d+ match(es)? move, by [\d.]+ ?% at most; \d+ open positions? close\./)
      expect(asked).toContain('That exceeds rules.max_move_pct.')
      await expect.poll(() => field.inputValue(), { timeout: 10_000 }).toBe(agrees ? value : before)
    }
    await set('5', false)
    await set('4', true)
    await set(before, true)
    await put('rules.max_move_pct', 2)
  })

  it('a new user verifies their e-mail, chooses a name and a district, and can trade', async () => {
    const page = await site.browser.newPage()
    page.setDefaultTimeout(10_000)
    const ticket = 'the ticket'
    const sent: unknown[] = []
    const json = (status: number, body: Record<string, unknown>) => ({ status, json: body })
    await page.route('**/api/auth/google', async (route) => {
      sent.push(route.request().postDataJSON())
      const facts = { needsProfile: true, registrationTicket: ticket, email: 'ada@example.org', name: 'Ada L' }
      await route.fulfill(json(422, { error: 'needs profile', code: 'NEEDS_PROFILE', ...facts, resendInSecs: 60 }))
    })
    await page.route('**/api/auth/verify-otp', async (route) => {
      sent.push(route.request().postDataJSON())
      await route.fulfill(json(200, { verified: true }))
    })
    await page.route('**/api/auth/google/complete', async (route) => {
      sent.push(route.request().postDataJSON())
      // Registering needs an identity provider; the development route signs a user in without one.
      const response = await page.request.post(`${site.server.url}/api/auth/dev`, { data: { displayName: 'Ada U16' } })
      await route.fulfill({ response })
    })
    const late = Promise.withResolvers<void>()
    await page.route('**/api/users/check-username', async (route) => {
      if (!/ada_taken/.test(route.request().postData() ?? '')) return route.continue()
      await late.promise
      await route.fulfill(json(200, { available: false, valid: true, reason: 'taken' }))
    })
    await page.addInitScript("sessionStorage.setItem('touchline.nonce', 'a nonce')")
    const back = `${site.server.url}/join?ref=friend42#id_token=the.token&authuser=0`
    await page.goto(back)
    await page.getByText('ada@example.org').waitFor()
    // With a ticket that has expired there is no other way on.
    await page.getByRole('button', { name: 'Sign in again' }).click()
    await page.getByLabel('Your name').waitFor()
    await page.goto(back)

    await page.getByText('ada@example.org').waitFor()
    expect(page.url(), 'a token does not stay in the address').toBe(`${site.server.url}/`)
    expect(await accessProblems(page)).toEqual([])
    await page.getByLabel('Code').fill('042137')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByLabel('Username').fill('ad')
    await page.getByText('At least three characters.').waitFor()
    const [asked] = await Promise.all([
      page.waitForRequest('**/api/users/check-username'),
      page.getByLabel('Username').fill('ada_taken'),
    ])
    await page.getByLabel('Username').fill('ada_u16_new')
    await page.getByText('At least three characters.').waitFor({ state: 'detached' })
    // An answer about a name that was typed before says nothing about this one.
    late.resolve()
    await asked.response()
    expect(await page.getByLabel('First name').inputValue()).toBe('Ada')
    await page.getByLabel('District').selectOption({ index: 2 })
    await page.getByRole('button', { name: 'Kick off' }).click()
    await page.getByRole('button', { name: /^Go long/ }).waitFor()
    expect(sent).toEqual([
      { idToken: 'the.token', nonce: 'a nonce' },
      { idToken: 'the.token', nonce: 'a nonce' },
      { registrationTicket: ticket, otp: '042137' },
      expect.objectContaining({ registrationTicket: ticket, username: 'ada_u16_new', referralCode: 'friend42' }),
    ])
  })

  it('an admin starts a replay and stops it', async () => {
    const { page } = await visit('Boss')
    await page.goto(`${site.server.url}/#/control/replays`)
    // In a page that may be Spanish.
    await page.locator('.control[lang="en"]').waitFor()
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    expect(await answer(page, 'Play', 'a test')).toContain('main purse: what is won counts')
    await page.locator('.replays > li').nth(1).waitFor()
    await page.locator('.replays').getByRole('button', { name: 'Stop' }).last().click()
    await answer(page, 'Stop', 'enough')
  })

  it('at full time positions settle with a toast, and the next match can be traded', async () => {
    await findOpenMatch()
    const { page } = await visit('Ada U18')
    await goLong(page)
    await openCount(page, 1)
    const old = site.server.matchId
    const stand = await page.context().newPage()
    await stand.goto(`${site.server.url}/#/match`)
    await stand.locator('.grass .shirt').first().waitFor()
    await site.server.play(700)
    site.server.jump(61)
    // One toast with the total, however many there were.
    const told = page.locator('.toast').getByText(/settled: [+−]/)
    await told.first().waitFor({ timeout: 20_000 })
    expect(await told.count()).toBe(1)
    await openCount(page, 0)
    // The page of the match turns into its result, and stays when another begins.
    await stand.getByRole('region', { name: 'Your match' }).getByText('1 position').waitFor({ timeout: 20_000 })
    await stand.locator('.shirt.called').getByText('Best call').waitFor()
    expect(stand.url()).toBe(`${site.server.url}/#/match/${old}`)
    expect(await accessProblems(stand)).toEqual([])

    // The next match lists the same players, and counts its moves from 1.
    const bob = await site.server.user('Bob U18')
    const inPlay = async () => (await bob.matches()).some(({ id, tradeWindow }) => id > old && tradeWindow.open)
    await expect.poll(inPlay, { timeout: 20_000 }).toBe(true)
    const prices = () => page.locator('.player .tag > b').allTextContents()
    const before = await prices()
    await site.server.play(30)
    const haveMoved = async () => {
      const now = await prices()
      return now.length > 0 && now.join() !== before.join()
    }
    await expect.poll(haveMoved, { timeout: 20_000 }).toBe(true)
    await site.tradable(page)
    await goLong(page)
    await openCount(page, 1)

    // The inbox leads to the match of before, with the names of its players.
    await page.goto(`${site.server.url}/#/inbox`)
    await page.getByRole('link', { name: 'See the match' }).first().click()
    const card = page.getByRole('region', { name: 'Your match' })
    await card.getByText('1 position').waitFor()
    await card.getByText('Best call').waitFor()
    expect(await card.locator('dd').first().textContent()).toMatch(/^(?!Player)\S.* [+−]?\d+\.\d\d$/)
    const [picture] = await Promise.all([
      page.waitForEvent('download'),
      card.getByRole('button', { name: 'Share the card' }).click(),
    ])
    expect(picture.suggestedFilename()).toBe('touchline.png')
    expect(await accessProblems(page)).toEqual([])
  })

  it('an order can be placed with the keyboard alone', async () => {
    await findOpenMatch()
    const { page } = await visit('Ada U15 keys')
    await page.locator('.player').first().focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    const name = await page.locator('.player:focus .who b').textContent()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: name ?? '' }).waitFor()
    await page.getByLabel('Lots', { exact: true }).focus()
    await page.keyboard.press('Enter')
    await openCount(page, 1)
  })

  it('a level moved with many key presses is sent once, when the keys rest', async () => {
    await findOpenMatch()
    const { page } = await visit('Ada U15 levels')
    await goLong(page)
    await openCount(page, 1)
    const own = page.locator('.held > li').first()
    const entry = Number(
      (await own.locator('.what .num').textContent())?.split('·')[1]?.split('→')[0]?.replace(',', ''),
    )
    await own.getByLabel(/^Stop-loss|^SL/).fill((entry * 0.95).toFixed(2))
    await page.keyboard.press('Enter')
    const grip = page.getByRole('slider', { name: /^Stop-loss of/ })
    await grip.waitFor()
    const before = Number(await grip.getAttribute('aria-valuenow'))
    let sent = 0
    page.on('request', (request) => {
      if (request.method() === 'PATCH') sent++
    })
    await grip.focus()
    const answered = page.waitForResponse((response) => response.request().method() === 'PATCH' && response.ok())
    // From here a busy machine would pause between two presses; in the page two may come before one is drawn.
    await page.evaluate(`(async () => {
      for (let n = 0; n < 30; n++) {
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true, cancelable: true }))
        if (n % 3 === 0) await new Promise((resolve) => setTimeout(resolve))
      }
    })()`)
    await answered
    await expect.poll(async () => Number(await grip.getAttribute('aria-valuenow'))).toBeCloseTo(before - 3, 2)
    expect(sent).toBe(1)

    // A pan that begins beside it, and the jitter of a press, move nothing.
    const box = present((await grip.boundingBox()) ?? undefined, 'the grip')
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
    await page.mouse.move(x, y - 60)
    await page.mouse.down()
    await page.mouse.move(x, y + 3, { steps: 5 })
    await page.mouse.up()
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x, y + 2)
    await page.mouse.up()
    expect(sent).toBe(1)
    await page.mouse.down()
    await page.mouse.move(x, y + 12, { steps: 4 })
    await page.mouse.up()
    await expect.poll(() => sent).toBe(2)
    await expect.poll(async () => Number(await grip.getAttribute('aria-valuenow'))).toBeLessThan(before - 3)
  })

  it('a keyboard is at the order button after at most fifteen stops, and arrows choose within a group', async () => {
    await findOpenMatch()
    const { page } = await visit('Ada U15 tabs')
    await page.reload()
    await page
      .getByRole('button', { name: /^Go long/ })
      .and(page.locator(':enabled'))
      .waitFor()
    let stops = 0
    const tab = async (): Promise<void> => {
      await page.keyboard.press('Tab')
      stops++
    }
    const isAt = (selector: string) => page.evaluate<boolean>(`document.activeElement.matches('${selector}')`)
    await tab()
    await tab()
    await page.keyboard.press('Enter') // skips to the order
    expect(await isAt('.way')).toBe(true)
    await page.keyboard.press('ArrowRight')
    expect(await isAt('.way.short')).toBe(true)
    await page.keyboard.press('Enter')
    while (!(await isAt('.send')) && stops < 40) await tab()
    expect(stops).toBeLessThanOrEqual(15)
    await page.keyboard.press('Enter')
    await openCount(page, 1)
    await page.locator('.held').getByText('▼ short').waitFor()
    expect(await isAt('.send'), 'the next order goes on from here').toBe(true)
  })
})
