/** What four people come for, from the first look to the end: a fan, a phone in a stadium, a trader, an operator. */
import type { Locator, Page, BrowserContextOptions } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { answer, complaintsOf, hasBrowser, holdUntil } from '../support/browser.ts'
import { browsedServer } from '../support/browsed-server.ts'
import { orderOf } from '../support/orders.ts'

/** The presses from the first look to the first open position. */
const PRESSES_MAX = 6
const HOLD_SECS = 181

describe.skipIf(!hasBrowser)('journeys', () => {
  const site = browsedServer('olga')

  /** Somebody with a browser, who counts what they press. */
  async function somebody(options: BrowserContextOptions = {}) {
    const context = await site.browser.newContext(options)
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    const complaints = complaintsOf(page, [new URL(site.server.url).origin])
    let presses = 0
    const press = async (what: Locator): Promise<void> => {
      presses++
      await (options.hasTouch === true ? what.tap() : what.click())
    }
    return { context, page, complaints, press, presses: () => presses }
  }
  const enabled = (page: Page, name: RegExp) => page.getByRole('button', { name }).and(page.locator(':enabled'))

  it('the fan, who knows nothing, has a position after a few presses, understands it, and closes it', async () => {
    const { page, complaints, press, presses } = await somebody({ viewport: { width: 1280, height: 800 } })
    await page.goto(site.server.url)
    await page.locator('#name:focus').waitFor()
    await page.keyboard.type('Fay Fan')
    await site.shoot(page, 'first-1-door', false)
    await press(page.getByRole('button', { name: 'Kick off' }))
    await page.getByText('Choose a player').waitFor()
    await press(page.locator('.player').first())
    const name = await page.locator('.player b').first().innerText()
    // Before they buy they read what they risk.
    await page.getByText('a move of 10% against you takes it all').waitFor()
    await page
      .locator('.preview')
      .getByText(/^2\d\d\.\d\d$/)
      .first()
      .waitFor()
    await page.getByText('You can close it after').waitFor()
    const order = await site.tradable(page)
    await site.shoot(page, 'first-2-ticket', false)
    await press(order)
    await page.getByRole('button', { name: 'Open 1', exact: true }).waitFor()
    expect(presses()).toBeLessThanOrEqual(PRESSES_MAX)

    // They can say what they hold, what it is worth, and why it moved.
    for (let n = 0; n < 2; n++) await site.server.play(10)
    const held = page.locator('.held > li')
    expect(await held.locator('.what').innerText()).toMatch(new RegExp(`${name}.*long.* lots`, 's'))
    expect(await held.locator('.pnl').innerText()).toMatch(/[+−]?\d+\.\d\d.*% of \d+\.\d\d/s)
    await press(held.getByRole('button', { name: 'What moved it?' }))
    for (const part of ['Minutes, passes and duels', 'Orders of traders']) {
      expect(await held.getByRole('status').getByText(part).innerText()).toMatch(/[+−]?\d+\.\d\d%$/)
    }
    await site.shoot(page, 'first-3-position', false)

    await site.closes(page, press)
    await press(page.getByRole('button', { name: 'Closed', exact: true }))
    await page.locator('.held.closed > li').getByText('Closed ·').waitFor()
    await site.shoot(page, 'first-4-closed', false)
    // The browser reports every refusal, and trading may have been suspended.
    expect(complaints.filter((text) => !text.includes('status of 409'))).toEqual([])
  })

  it('the phone in the stadium loses the network while an order is sent, and has exactly one position', async () => {
    const { context, page, press } = await somebody({
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    })
    await page.goto(site.server.url)
    await page.getByLabel('Your name').fill('Stan Stadium')
    await press(page.getByRole('button', { name: 'Kick off' }))
    await page.getByText('Choose a player').waitFor()
    await press(page.locator('button.shirt').nth(5))
    // The button is within reach of a thumb, whatever is above it.
    const send = await site.tradable(page, /^Hold to go long/)
    const box = present((await send.boundingBox()) ?? undefined, 'box')
    expect(box.y + box.height).toBeLessThanOrEqual(844)
    await send.tap()
    await send.tap()

    // The server takes the order, and its answer is lost.
    let lost = 0
    await context.route('**/api/positions/open', async (route) => {
      if (lost++ > 0) return route.abort()
      await route.fetch()
      await context.setOffline(true)
      // Being offline may already have ended it.
      return route.abort().catch(() => undefined)
    })
    await holdUntil(page, send, () =>
      page
        .getByText(/Offline|offline/)
        .first()
        .waitFor(),
    )
    await context.unroute('**/api/positions/open')
    await context.setOffline(false)
    const nav = page.getByRole('navigation', { name: 'Views' })
    await press(nav.getByRole('button', { name: 'Positions' }))
    await page.getByRole('button', { name: 'Open 1', exact: true }).waitFor()
    const fan = await site.server.user('Stan Stadium')
    await expect.poll(async () => (await fan.positions('open')).length).toBe(1)

    await site.closes(page, press)
    expect(await fan.positions('open')).toEqual([])
  })

  it('the trader sees all positions at once, goes through the list by keys, and closes everything', async () => {
    const { page, press } = await somebody({ viewport: { width: 1440, height: 900 } })
    await page.goto(site.server.url)
    await page.getByLabel('Your name').fill('Tara Trader')
    await press(page.getByRole('button', { name: 'Kick off' }))
    await site.tradable(page)
    const tara = await site.server.user('Tara Trader')
    for (let n = 0; n < 6; n++) await tara.opens(await orderOf(tara))
    await page.getByText('in 6 positions').waitFor()
    for (const row of (await page.locator('.held > li').all()).slice(0, 4)) {
      const box = await row.boundingBox()
      expect(box?.height).toBeLessThan(40)
      const beyond = await row.locator('.health').evaluate((node) => node.scrollWidth - node.clientWidth)
      expect(beyond, 'the washout price has its room').toBe(0)
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(900)
    }
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 1440, height: 900 },
    ]) {
      await page.setViewportSize(viewport)
      const isInReach = await page.evaluate<boolean>(`(() => {
        const send = document.querySelector('.send')
        const { x, width, top, bottom } = send.getBoundingClientRect()
        return [top + 1, bottom - 1].every((y) => document.elementFromPoint(x + width / 2, y) === send)
      })()`)
      expect(isInReach, `the order above the positions at ${viewport.width} px`).toBe(true)
    }

    // Keys lead to players, whom the address names, and back.
    const first = page.url()
    await page.keyboard.press('j')
    await page.waitForURL((url) => url.href !== first)
    const second = page.url()
    await page.reload()
    await site.tradable(page)
    expect(page.url()).toBe(second)
    await page.goBack()
    await page.waitForURL(first)
    // The match leads to other players. Back is the one who was left.
    await press(page.getByRole('link', { name: 'Match', exact: true }))
    for (const n of [3, 4]) await press(page.locator('.grass button.shirt').nth(n))
    await page.goBack()
    await site.tradable(page)
    expect(page.url()).toBe(first)
    await page.keyboard.press('/')
    expect(await page.evaluate('document.activeElement.type')).toBe('search')

    site.server.jump(HOLD_SECS)
    await page.reload()
    await press(page.getByRole('button', { name: 'Close all…' }))
    await page.getByText('Close 6 positions?').waitFor()
    // A match that is busy keeps its position open, and no other.
    const headers = { 'retry-after': '60' }
    const json = { error: 'the match is busy', code: 'BUSY' }
    await page.route('**/api/positions/*/close', (route) => route.fulfill({ status: 503, headers, json }), { times: 1 })
    await press(page.getByRole('button', { name: 'Close all 6', exact: true }))
    await page.getByRole('button', { name: 'Open 1', exact: true }).waitFor()
    // The rows under the mouse stay, but only one can be pressed.
    await press(page.locator('.held .close[aria-disabled=false]'))
    await page.getByRole('button', { name: 'Open 0', exact: true }).waitFor()
    expect(await tara.positions('open')).toEqual([])
  })

  it('the operator halts trading, sees that fans cannot trade, and takes it back', async () => {
    const fan = await somebody({ viewport: { width: 1280, height: 800 } })
    await fan.page.goto(site.server.url)
    await fan.page.getByLabel('Your name').fill('Fern Fan')
    await fan.press(fan.page.getByRole('button', { name: 'Kick off' }))
    await site.tradable(fan.page)

    const { page, press, complaints } = await somebody({ viewport: { width: 1440, height: 900 } })
    await page.goto(site.server.url)
    await page.getByLabel('Your name').fill('Olga')
    await press(page.getByRole('button', { name: 'Kick off' }))
    await press(page.getByRole('link', { name: 'Control' }))
    const mode = (name: string, isPressed: boolean) =>
      page
        .getByRole('button', { name, exact: true })
        .and(page.locator(`[aria-pressed=${isPressed}]`))
        .first()
    await press(mode('Halted', false))
    await answer(page, 'Halt', 'the provider reports nonsense')
    await mode('Halted', true).waitFor()
    await fan.page.locator('.scoreboard').getByRole('alert').getByText('trading is halted').waitFor()
    await enabled(fan.page, /^Go long/).waitFor({ state: 'detached' })
    await press(mode('Open', false))
    await answer(page, 'Release', 'it does no longer')
    await mode('Open', true).waitFor()
    await site.tradable(fan.page)
    await press(page.getByRole('link', { name: 'Audit', exact: true }))
    await expect.poll(() => page.getByText('trading.mode').count()).toBe(2)
    expect(complaints).toEqual([])
  })
})
