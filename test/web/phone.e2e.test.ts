/** The page on a phone in a hand: views are left before an answer comes, and a part of the screen is under a notch. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { hasBrowser } from '../support/browser.ts'
import { browsedServer } from '../support/browsed-server.ts'
import { orderOf } from '../support/orders.ts'

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const HOLD_SECS = 181

describe.skipIf(!hasBrowser)('on a phone', () => {
  const site = browsedServer()

  async function visit(name: string, view: string, options = PHONE) {
    const { context, page } = await site.visit(options)
    await site.enter(page, name)
    await page.getByRole('link', { name: /^Account of/ }).waitFor()
    await page.goto(`${site.server.url}/#/${view}`)
    return { context, page, device: await site.server.user(name) }
  }
  /** Holds the next request of this path. Returns what answers it, once it has arrived. */
  async function held(page: Page, path: string) {
    const arrived = Promise.withResolvers<(status: number, code: string) => Promise<void>>()
    await page.route(path, (route) =>
      arrived.resolve((status, code) =>
        route.fulfill({ status, headers: { 'retry-after': '60' }, json: { error: code, code, currentPrice: 7 } }),
      ),
    )
    return arrived.promise
  }
  const showView = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name }).tap()

  it.each([
    ['a refusal', 409, 'PRICE_MOVED', 'The price has moved to 7.'],
    ['an unknown outcome', 503, 'UNKNOWN_OUTCOME', 'We do not know yet'],
  ])('says %s of an order in a message where its ticket is no longer seen', async (what, status, code, said) => {
    const { page } = await visit(`Lea Leaves ${what}`, 'trade')
    const send = await site.tradable(page)
    const answering = held(page, '**/api/positions/open')
    await send.tap()
    const answer = await answering
    await showView(page, 'Positions')
    await page.locator('.ticket').waitFor({ state: 'hidden' })
    await answer(status, code)
    await page.locator('.toast').getByText(said).waitFor()
  })

  it('says a refusal of a close in a message where its row is no longer seen', async () => {
    const { page, device } = await visit('Lou Leaves', 'positions')
    await device.opens(await orderOf(device))
    site.server.jump(HOLD_SECS)
    await page.reload()
    const answering = held(page, '**/api/positions/*/close')
    await page.locator('.held').getByRole('button', { name: 'Close', exact: true }).tap()
    const answer = await answering
    await showView(page, 'Match')
    await page.locator('.held').waitFor({ state: 'detached' })
    await answer(409, 'POSITION_NOT_OPEN')
    await page.locator('.toast.bad').waitFor()
  })

  it('the focus goes back to the shirt that opened the sheet, where a tap gives none', async () => {
    const { page } = await visit('Sam Safari', 'match')
    // As Safari does: pressed, and not focused.
    const shirt = page.locator('button.shirt').nth(5)
    await shirt.evaluate((button: { click(): void }) => button.click())
    await page.getByRole('dialog').getByRole('button', { name: 'Dismiss' }).tap()
    await shirt.and(page.locator(':focus')).waitFor()
  })

  it('shows nothing under a notch at its side', async () => {
    const { context, page, device } = await visit('Nat Notch', 'positions', {
      ...PHONE,
      viewport: { width: 740, height: 500 },
    })
    await device.opens(await orderOf(device))
    const session = await context.newCDPSession(page)
    await session.send('Emulation.setSafeAreaInsetsOverride', { insets: { left: 47, right: 47 } })
    const under = () =>
      page.evaluate(`[...document.querySelectorAll('button, input, select, a, p, h2')]
        .map((node) => ({ node, box: node.getBoundingClientRect() }))
        .filter(({ node, box }) => box.width > 1 && node.checkVisibility() && !node.matches('.sr-only, .skip'))
        .filter(({ box }) => box.left < 47 || box.right > innerWidth - 47)
        .map(({ node }) => node.className + ' ' + node.innerText)`)
    for (const width of [740, 1280]) {
      await page.setViewportSize({ width, height: 500 })
      for (const [view, drawn] of [
        ['positions', '.held > li'],
        ['trade', '.ticket'],
        ['match', 'button.shirt'],
      ] as const) {
        await page.goto(`${site.server.url}/#/${view}`)
        await page.locator(drawn).first().waitFor()
        expect(await under(), `${view}, ${width} px`).toEqual([])
      }
      await page.locator('button.shirt').nth(5).tap()
      await page.locator('.sheet .send').waitFor()
      expect(await under(), `the sheet, ${width} px`).toEqual([])
      await page.keyboard.press('Escape')
    }
  })

  it('the card of a week is downloaded where the phone takes the press for too old to share', async () => {
    const { page, device } = await visit('Rita Recap', 'positions')
    await device.opens(await orderOf(device))
    await site.closes(page)
    await page.addInitScript(`
      navigator.canShare = () => true
      navigator.share = async () => { throw new DOMException('too late', 'NotAllowedError') }`)
    await page.goto(`${site.server.url}/#/league`)
    await page.reload()
    const share = page.getByRole('button', { name: 'Share the card' })
    await share.waitFor()
    const [picture] = await Promise.all([page.waitForEvent('download'), share.tap()])
    expect(picture.suggestedFilename()).toBe('touchline.png')
  })

  it('the sheet of a league has the price that the league pays, without the crowd', async () => {
    const { page, device } = await visit('Lia League', 'league')
    await page.getByRole('button', { name: 'Start a league' }).tap()
    await page.getByLabel('Its name').fill('Harbour')
    if ((await device.matches())[0]?.purse === 'practice') await page.getByRole('button', { name: 'Recordings' }).tap()
    await page.getByRole('button', { name: 'Start it' }).tap()
    await page.getByRole('button', { name: 'Trade in this league' }).tap()
    await page.locator('.money.league').waitFor()
    // The crowd moves a price.
    const order = await orderOf(device)
    const { name } = present(
      (await device.instruments()).find(({ id }) => id === order.instrumentId),
      'player',
    )
    await device.opens({ ...order, lotSize: 10 })
    await page.goto(`${site.server.url}/#/match`)
    const shirt = page.locator(`button.shirt[title="${name}"]`)
    await shirt.tap()
    // The feed brings the new price after the answer to the order.
    await expect
      .poll(async () => [
        await shirt.locator('.at').textContent(),
        await page.locator('.ways .num').first().textContent(),
      ])
      .not.toSatisfy((texts: readonly string[]) => texts[0] === texts[1])
    const [own, crowd, shown] = await Promise.all(
      [page.locator('.sheet .ways .num').first(), shirt.locator('.at'), page.locator('.sheet > header .num')].map(
        (at) => at.textContent(),
      ),
    )
    expect(own).not.toBe(crowd)
    expect(shown).toBe(own)
  })
})
