/** The list of open positions while positions open and close on another device. */
import type { Page, Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import type { HttpClient } from '../support/http-client.ts'
import { hasBrowser } from '../support/browser.ts'
import { browsedServer } from '../support/browsed-server.ts'
import { orderOf } from '../support/orders.ts'

const HOLD_SECS = 181
const SIZES = [0.07, 0.06, 0.05] as const

interface Viewport {
  readonly width: number
  readonly height: number
}

/** A user who may close three positions, of 0.05, 0.06 and 0.07 lots, the largest first; and their other device. */
async function holderOn(
  site: ReturnType<typeof browsedServer>,
  name: string,
  viewport: Viewport = { width: 1440, height: 900 },
) {
  const { page } = await site.visit({ viewport })
  await site.enter(page, name)
  await page.getByRole('link', { name: /^Account of/ }).waitFor()
  const device = await site.server.user(name)
  for (const lotSize of SIZES.toReversed()) {
    await device.opens({ ...(await orderOf(device)), lotSize })
    site.server.jump(1)
  }
  site.server.jump(HOLD_SECS)
  await page.goto(`${site.server.url}/#/positions`)
  await page.reload()
  await page.locator('.held .leave').nth(2).waitFor()
  return { page, device }
}
const sizes = async (device: HttpClient): Promise<readonly number[]> =>
  (await device.positions('open')).map(({ lotSize }) => lotSize).toSorted((a, b) => a - b)
const closeElsewhere = async (device: HttpClient, lotSize: number): Promise<void> => {
  const { id } = present(
    (await device.positions('open')).find((one) => one.lotSize === lotSize),
    'position',
  )
  expect((await device.close(id, id)).status).toBe(200)
}
const row = (page: Page, lotSize: number) =>
  page.locator('.held > li').filter({ has: page.locator('.what', { hasText: `${lotSize} lots` }) })
const closeOf = (page: Page, lotSize: number) => row(page, lotSize).locator('.leave > .close')

describe.skipIf(!hasBrowser)('open positions', () => {
  const site = browsedServer()

  const holder = (name: string, viewport?: Viewport) => holderOn(site, name, viewport)
  /** Presses what comes to the place of a row in the moment in which it does. */
  const pressAsItGoes = (page: Page) =>
    page.evaluate(`void (() => {
      const list = document.querySelector('.held')
      new MutationObserver((_, observer) => {
        observer.disconnect()
        const next = list.querySelector('.leave > .close')
        next.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, button: 0 }))
        next.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }))
        document.body.dataset.pressed = ''
      }).observe(list, { childList: true })
    })()`)

  it('a press that meets the row after the one which has just gone closes nothing', async () => {
    const { page, device } = await holder('Tessa Touch', { width: 1280, height: 800 })
    const cut = await page.locator('.held .what').evaluateAll((rows) =>
      rows.map(({ children: [name, prices] }) => {
        if (name === undefined || prices === undefined) return 'no row'
        name.textContent = 'Quillan Lundarmark'
        return prices.scrollWidth - prices.clientWidth
      }),
    )
    expect(cut, 'the prices have their room').toEqual([0, 0, 0])
    await pressAsItGoes(page)
    await closeElsewhere(device, 0.07)
    await page.locator('body[data-pressed]').waitFor()
    await closeOf(page, 0.05).press('Enter')
    await page.getByRole('button', { name: 'Open 1', exact: true }).waitFor()
    expect(await sizes(device)).toEqual([0.06])
  })

  it('a row under the mouse stays when its position closes elsewhere, says so, and cannot be pressed', async () => {
    const { page, device } = await holder('Moe Mouse')
    await closeOf(page, 0.07).hover()
    await closeElsewhere(device, 0.07)
    await row(page, 0.07).getByText('Closed', { exact: true }).waitFor()
    expect(await closeOf(page, 0.07).isEnabled()).toBe(false)
    expect(await page.locator('.held > li').count()).toBe(3)
    await device.opens({ ...(await orderOf(device)), lotSize: 0.08 })
    await row(page, 0.08).waitFor()
    expect(await row(page, 0.08).evaluate((one) => one.nextSibling), 'a new row comes last').toBeNull()
    await closeOf(page, 0.06).click()
    await row(page, 0.06).waitFor({ state: 'detached' }) // it was closed here
    await page.mouse.move(700, 5)
    await row(page, 0.07).waitFor({ state: 'detached' })
    expect(await sizes(device)).toEqual([0.05, 0.08])
  })

  it('the focus stays in a row that closes elsewhere, and goes on from there', async () => {
    const { page, device } = await holder('Kay Keys', { width: 390, height: 844 })
    await page.locator('body').press('Tab') // keys are used
    await closeOf(page, 0.06).focus()
    await closeElsewhere(device, 0.06)
    await row(page, 0.06).getByText('Closed', { exact: true }).waitFor()
    await row(page, 0.06).locator('.leave > .close:focus').waitFor()
    await page.keyboard.press('Tab')
    await row(page, 0.06).getByRole('button', { name: 'What moved it?' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Tab')
    await row(page, 0.05).locator('.what > button:focus').waitFor()
    await row(page, 0.05).locator('.leave > .close').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Open 1', exact: true }).waitFor()
    expect(await sizes(device)).toEqual([0.07])
  })

  it('Escape leaves a field, whose level stays as it was, and the keys work again', async () => {
    const { page, device } = await holder('Esme Escape')
    const stop = row(page, 0.07).getByLabel('Stop-loss')
    await stop.fill('1')
    await stop.press('Escape')
    expect(await stop.inputValue()).toBe('')
    await page.keyboard.press('/')
    const search = page.locator('.market input[type=search]:focus')
    await search.press('Escape')
    const player = page.url()
    await page.keyboard.press('j')
    await page.waitForURL((url) => url.href !== player)
    // A level of another row comes after any that was sent before.
    await row(page, 0.06).getByLabel('Stop-loss').fill('2')
    await row(page, 0.06).getByLabel('Stop-loss').press('Enter')
    await page.getByText(/^stop-loss 2\.00/).waitFor()
    expect((await device.positions('open')).map(({ stopLoss }) => stopLoss)).toEqual([null, 2, null])
  })

  it('the key X reaches what can be closed, though a newer position of the player cannot', async () => {
    const { page, device } = await holder('Xena X')
    const order = await orderOf(device)
    await device.opens({ ...order, lotSize: 0.08 })
    await page.goto(`${site.server.url}/#/trade/${order.instrumentId}`)
    await page.locator('.held > [aria-current]').getByText('0.08 lots').waitFor()
    await page.keyboard.press('x')
    await row(page, 0.07).locator('.leave > .close:focus').waitFor()
  })

  it('a level takes a decimal comma, and what is no price leaves it as it is', async () => {
    const { page, device } = await holder('Dora Decimal')
    const stop = row(page, 0.06).getByLabel('Stop-loss')
    await stop.fill('2,5')
    await stop.press('Enter')
    await page.getByText(/^stop-loss 2\.50/).waitFor()
    await stop.fill('1e')
    await stop.blur()
    await expect.poll(() => stop.inputValue()).toBe('2.5')
    // A level of another row comes after any that was sent before.
    await row(page, 0.07).getByLabel('Stop-loss').fill('3')
    await row(page, 0.07).getByLabel('Stop-loss').press('Enter')
    await page.getByText(/^stop-loss 3\.00/).waitFor()
    const set = (await device.positions('open')).map(({ lotSize, stopLoss }) => [lotSize, stopLoss])
    expect(Object.fromEntries(set)).toMatchObject({ 0.06: 2.5, 0.07: 3 })
  })

  it('a message covers neither the players nor the order, and Max needs no stake', async () => {
    const { page } = await site.visit({ viewport: { width: 1280, height: 800 } })
    await site.enter(page, 'Max Most')
    const send = await site.tradable(page)
    await page.getByLabel('Stake in units').fill('')
    await page.getByText(/at least/).waitFor()
    await page.locator('.chips button:enabled', { hasText: 'Max' }).press('Enter')
    await send.waitFor()
    expect(Number(await page.getByLabel('Stake in units').inputValue())).toBeGreaterThan(9_000)
    await page.locator('.chips button:focus').getByText('Max').waitFor()
    const max = await site.server.user('Max Most')
    await max.opens(await orderOf(max))
    const edges = async (selector: string) => {
      const box = present((await page.locator(selector).boundingBox()) ?? undefined, selector)
      return { left: box.x, right: box.x + box.width }
    }
    await page.locator('.toast').first().waitFor()
    const [message, players, order] = [await edges('.toasts'), await edges('.market'), await edges('.ticket')]
    expect(message.left).toBeGreaterThan(players.right)
    expect(message.right).toBeLessThan(order.left)
  })

  it('a row shows its prices whole, however long the name of its league', async () => {
    const { page } = await holder('Lea League', { width: 1280, height: 800 })
    const cut = await page.evaluate(`[...document.querySelectorAll('.held .what small')].map((row) => {
      const league = document.createElement('b')
      league.className = 'practice-badge league'
      league.textContent = 'Harbour Friends and Family United'
      row.lastElementChild.before(league)
      return row.scrollWidth > row.clientWidth || row.lastElementChild.scrollWidth > row.lastElementChild.clientWidth + 1
    })`)
    expect(cut).toEqual([false, false, false])
  })

  it('the chart writes the size of a position as the language does', async () => {
    const { page } = await site.visit({ viewport: { width: 1280, height: 900 }, locale: 'es-ES' })
    await page.addInitScript(`
      const { fillText } = CanvasRenderingContext2D.prototype
      window.drawn = []
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        window.drawn.push(text)
        return fillText.call(this, text, ...rest)
      }`)
    await page.getByRole('textbox').fill('Carla Coma')
    await page.locator('form button').first().click()
    await page.locator('.chart canvas').first().waitFor()
    const carla = await site.server.user('Carla Coma')
    const order = await orderOf(carla)
    await carla.opens({ ...order, lotSize: 0.25 })
    await page.goto(`${site.server.url}/#/trade/${order.instrumentId}`)
    await page.reload()
    const drawn = async () => [...new Set(z.array(z.string()).parse(await page.evaluate('window.drawn')))]
    await expect.poll(drawn).toEqual(expect.arrayContaining(['▲ 0,25', '0,25']))
    expect((await drawn()).filter((word) => word.includes('0.25'))).toEqual([])
    await page.locator('.held').getByLabel('Precio del Stop-loss').fill('0,01')
    await page.keyboard.press('Enter')
    await page.getByText(/^El stop-loss 0,01 queda más allá del precio de agotamiento \d+,\d\d:/).waitFor()
  })

  it('closed positions beyond the first page can be read', async () => {
    const { page, device } = await holder('Paige Past')
    for (const lotSize of SIZES) await closeElsewhere(device, lotSize)
    await page.route('**/api/positions?*status=closed*', (route) => {
      const url = new URL(route.request().url())
      url.searchParams.set('limit', '2')
      return route.continue({ url: url.href })
    })
    await page.reload()
    await page.getByRole('button', { name: 'Closed', exact: true }).click()
    await page.locator('.held.closed > li').nth(1).waitFor()
    await page.getByRole('button', { name: 'Earlier positions' }).click()
    await page.locator('.held.closed > li').nth(2).waitFor()
    await page.getByRole('button', { name: 'Earlier positions' }).waitFor({ state: 'detached' })
  })

  it('a press on the order of a player whose match has just gone sends no order of another', async () => {
    const { page } = await site.visit({ viewport: { width: 1280, height: 800 } })
    await site.enter(page, 'Nick Next')
    await site.tradable(page)
    // Another match with other players has begun when the page asks again.
    await page.route('**/api/matches', async (route) => {
      const Found = z.object({ matches: z.array(z.looseObject({ tradeWindow: z.looseObject({}) })) })
      const { matches } = Found.parse(await (await route.fetch()).json())
      const over = matches.map((one) => ({
        ...one,
        tradeWindow: { ...one.tradeWindow, open: false, status: 'CLOSED' },
      }))
      await route.fulfill({ json: { matches: [...over, ...matches.map((one) => ({ ...one, id: 4_999_999_999 }))] } })
    })
    await page.route('**/api/instruments', async (route) => {
      const Found = z.object({ instruments: z.array(z.looseObject({ id: z.string() })) })
      const { instruments } = Found.parse(await (await route.fetch()).json())
      const others = instruments.map((one) => ({ ...one, id: `0${one.id.slice(1)}`, fixtureId: 4_999_999_999 }))
      await route.fulfill({ json: { instruments: others } })
    })
    let sent = 0
    await page.route('**/api/positions/open', (route) => (sent++, route.abort()))
    await page.evaluate(`void (() => {
      const ticket = document.querySelector('.ticket')
      new MutationObserver((_, observer) => {
        const next = document.querySelector('.ticket')
        if (next === ticket || next === null) return
        observer.disconnect()
        next.querySelector('.send').click()
        document.body.dataset.pressed = next.querySelector('.send').ariaDisabled
      }).observe(document.body, { childList: true, subtree: true })
    })()`)
    const pressed = async () => {
      await site.server.play(20) // until there is news, after which the page asks
      return page.locator('body').getAttribute('data-pressed')
    }
    await expect.poll(pressed, { timeout: 20_000, interval: 500 }).toBe('true')
    await page.locator('.send[aria-disabled=false]').waitFor()
    expect(sent).toBe(0)
  })

  it('the players of another match are sorted under the mouse, and a list that has gone holds no other', async () => {
    const { page } = await site.visit({ viewport: { width: 1280, height: 800 } })
    await site.enter(page, 'Sally Sort')
    const players = page.locator('.players .player')
    await players.nth(3).hover()
    await page.evaluate(`location.hash = '#/league'`)
    await players.first().waitFor({ state: 'detached' })
    await page.mouse.move(700, 5)
    await page.evaluate(`location.hash = '#/trade'`)
    await players.first().waitFor()
    // Another match has begun when the page asks again, and a dear player has come on in this one.
    const OTHER = 4_999_999_999
    await page.route('**/api/matches', async (route) => {
      const Found = z.object({ matches: z.array(z.looseObject({})) })
      const { matches } = Found.parse(await (await route.fetch()).json())
      await route.fulfill({ json: { matches: [...matches, { ...matches[0], id: OTHER }] } })
    })
    await page.route('**/api/instruments', async (route) => {
      const Found = z.object({ instruments: z.array(z.looseObject({ id: z.string() })) })
      const { instruments } = Found.parse(await (await route.fetch()).json())
      const copies = instruments.map((one, n) => ({ ...one, id: `0${one.id.slice(1)}`, tradingStatus: 'OPEN', n }))
      const others = copies.map((one) => ({ ...one, currentPrice: 100 + one.n, fixtureId: OTHER }))
      const dear = { ...copies[0], id: `1${copies[0]?.id.slice(1)}`, currentPrice: 9_999 }
      await route.fulfill({ json: { instruments: [...instruments, dear, ...others] } })
    })
    const matches = page.locator('.scoreboard select')
    const isThere = async () => {
      await site.server.play(20) // until there is news, after which the page asks
      return (await page.locator('.scoreboard option').count()) > 1
    }
    await expect.poll(isThere, { timeout: 20_000, interval: 500 }).toBe(true)
    const price = async (at: number) => Number((await players.nth(at).locator('.tag b').innerText()).replace(',', ''))
    await expect.poll(() => price(0)).toBe(9_999)
    await players.nth(3).hover()
    await matches.selectOption(String(OTHER))
    const count = await players.count()
    await expect.poll(() => price(count - 1)).toBe(100)
    expect(await price(0)).toBe(99 + count)
  })

  it('a user whose session has ended sees that they are signed out, wherever they were', async () => {
    const { page, context } = await site.visit({ viewport: { width: 390, height: 400 } })
    await site.enter(page, 'Cut Off')
    await page.getByRole('link', { name: /^Account of/ }).waitFor()
    await page.goto(`${site.server.url}/#/league`)
    await page.getByRole('region', { name: 'Districts' }).scrollIntoViewIfNeeded()
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    await context.clearCookies()
    await page.locator('.choice button', { hasText: 'Friends' }).dispatchEvent('click')
    await page.getByText('You have been signed out.').waitFor()
    await expect.poll(() => page.evaluate('scrollY')).toBe(0)
  })

  it('a hold sends no order that was blocked after it began', async () => {
    const { page } = await site.visit({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
    await site.enter(page, 'Holly Hold')
    await page.locator('button.shirt').nth(5).tap()
    await site.tradable(page, /^Hold to go long/)
    let sent = 0
    await page.route('**/api/positions/open', (route) => (sent++, route.abort()))
    await page.evaluate(`(() => {
      const [send, stake] = [document.querySelector('.send'), document.querySelector('#stake')]
      send.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, button: 0 }))
      stake.value = ''
      stake.dispatchEvent(new InputEvent('input', { bubbles: true }))
    })()`)
    await page.locator('.send[data-holding]').waitFor()
    await page.locator('.send:not([data-holding])').waitFor()
    await page.getByText(/at least/).waitFor()
    expect(sent).toBe(0)
  })
})

describe.skipIf(!hasBrowser)('positions that close', () => {
  const site = browsedServer()

  it('a close leaves the focus where the user has moved it, a search what it hides, and too many wait', async () => {
    const { page, device } = await holderOn(site, 'Tim Typist')
    await site.playUntilOpen()
    const answering = Promise.withResolvers<void>()
    const closes = '**/api/positions/*/close'
    await page.route(closes, (route) => answering.promise.then(() => route.continue()), { times: 1 })
    await closeOf(page, 0.07).click()
    const stop = row(page, 0.06).getByLabel('Stop-loss')
    await stop.click()
    await page.keyboard.type('1')
    answering.resolve()
    await page.getByRole('button', { name: 'Open 2', exact: true }).waitFor()
    await page.keyboard.type('.5')
    expect(await stop.inputValue()).toBe('1.5')
    expect((await device.positions('open')).map(({ stopLoss }) => stopLoss)).toEqual([null, null])
    await stop.press('Escape')

    for (const lotSize of [0.08, 0.09, 0.1]) await device.opens({ ...(await orderOf(device)), lotSize })
    const search = page.getByLabel('Find a position')
    await search.fill('no such player')
    await closeElsewhere(device, 0.05)
    await page.getByRole('button', { name: 'Open 4', exact: true }).waitFor()
    await search.fill('')
    await page.locator('.held > li').nth(3).waitFor()

    const json = { error: 'too many requests', code: 'RATE_LIMITED' }
    await page.route(closes, (route) => route.fulfill({ status: 429, json }), { times: 1 })
    await page.getByRole('button', { name: 'Close all…' }).click()
    await page.getByRole('button', { name: 'Close it', exact: true }).click()
    await page.getByRole('button', { name: 'Open 3', exact: true }).waitFor()
    expect(await sizes(device)).toEqual([0.08, 0.09, 0.1])
  })

  it('late answers bring back neither a wallet nor a size, and no order goes before its purse is known', async () => {
    const { page, device } = await holderOn(site, 'Lana Late')
    await site.playUntilOpen()
    /** Lets the server answer the next request of this kind, and the page have the answer once it is let go. */
    const late = async (path: string) => {
      const [answered, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const hold = async (route: Route): Promise<void> => {
        const response = await route.fetch()
        answered.resolve()
        await sent.promise
        await route.fulfill({ response })
      }
      await page.route(path, hold, { times: 1 })
      return { answered: answered.promise, send: sent.resolve }
    }
    const wallet = await late('**/api/wallet?*')
    await device.opens({ ...(await orderOf(device)), lotSize: 0.2 })
    await wallet.answered
    await device.opens({ ...(await orderOf(device)), lotSize: 0.3 })
    await row(page, 0.3).waitFor()
    wallet.send()
    const { freeMargin } = await device.wallet('main')
    const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 }
    await page.getByText(freeMargin.toLocaleString('en', digits)).first().waitFor()

    const level = await late('**/api/positions/*')
    await row(page, 0.07).getByLabel('Stop-loss').fill('2')
    await row(page, 0.07).getByLabel('Stop-loss').press('Enter')
    await level.answered
    const { id } = present(
      (await device.positions('open')).find(({ lotSize }) => lotSize === 0.07),
      'position',
    )
    const part = { clientRequestId: 'part', lotSize: 0.03 }
    expect((await device.request('POST', `/api/positions/${id}/close`, part)).status).toBe(200)
    await row(page, 0.04).waitFor()
    level.send()
    await page
      .getByText(/^stop-loss 2\.00/)
      .first()
      .waitFor()
    await row(page, 0.06).getByLabel('Stop-loss').fill('3')
    await row(page, 0.06).getByLabel('Stop-loss').press('Enter')
    await page
      .getByText(/^stop-loss 3\.00/)
      .first()
      .waitFor()
    expect(await row(page, 0.04).count()).toBe(1)

    const close = await late('**/api/positions/*/close')
    await row(page, 0.04).getByLabel('How much').selectOption('0.5')
    await row(page, 0.04).getByRole('button', { name: 'Close part' }).click()
    await close.answered
    const next = { clientRequestId: 'next', lotSize: 0.01 }
    expect((await device.request('POST', `/api/positions/${id}/close`, next)).status).toBe(200)
    await row(page, 0.01).waitFor()
    close.send()
    await row(page, 0.06)
      .getByRole('button', { name: /^Close/ })
      .click()
    await row(page, 0.06).waitFor({ state: 'detached' })
    expect([await row(page, 0.01).count(), await row(page, 0.02).count()]).toEqual([1, 0])

    const leagues = await late('**/api/leagues')
    await page.goto(`${site.server.url}/#/trade`)
    await page.reload()
    await leagues.answered
    const send = page.getByRole('button', { name: /^Go long/ })
    await send.waitFor()
    expect(await send.isEnabled()).toBe(false)
    leagues.send()
    await site.tradable(page)
  })
})
