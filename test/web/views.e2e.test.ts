/** Every view against the rules of axe (WCAG 2.2 AA), dark and light, on a wide screen and on a phone. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { en } from '../../src/web/words/en.ts'
import { es } from '../../src/web/words/es.ts'
import { accessProblems, complaintsOf, hasBrowser, overlaps } from '../support/browser.ts'
import { browsedServer } from '../support/browsed-server.ts'
import { orderOf } from '../support/orders.ts'

const HOLD_SECS = 181

/** Sentences of the page in English that no other language has. */
const ENGLISH = Object.values(en)
  .flatMap((group) => Object.values(group))
  .flatMap((words) => (typeof words === 'string' ? [words] : Object.values<string>(words)))
  .filter((words) => words.length > 12 && !words.includes('{') && words.includes(' '))

/** Each with what is there once it is drawn. */
const VIEWS: readonly (readonly [address: string, drawn: string])[] = [
  ['/#/match', '.grass'],
  ['/#/market', '.player'],
  ['/#/trade', '.ticket'],
  ['/#/positions', '.positions, .held, .empty'],
  ['/#/league', '.page .card'],
  ['/#/club', '.page .card'],
  ['/#/inbox', '.page .card'],
  ['/#/account', '.page .card'],
  ['/#/control/', '.gauges'],
  ['/#/control/feeds', '.page .card'],
  ['/#/control/replays', '.page .card'],
  ['/#/control/settings', '.groups'],
  ['/#/control/what-if', '.page .card'],
  ['/#/control/users', '.page .card'],
  ['/#/control/keys', '.page .card'],
  ['/#/control/risk', '.page .card'],
  ['/#/control/webhooks', '.page .card'],
  ['/#/control/audit', '.page .card'],
  ['/#/control/runbook/the-brake', 'article p'],
  ['/verify', '#match'],
  ['/api/docs', '#quickstart'],
]

/** Fields to which an iPhone zooms when they are touched, for the size of their letters. */
const zoomed = (page: Page): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>(`[...document.querySelectorAll('input:not([type=checkbox]), select, textarea')]
    .filter((field) => parseFloat(getComputedStyle(field).fontSize) < 16)
    .map((field) => field.ariaLabel ?? field.id)`)

describe.skipIf(!hasBrowser)('every view', () => {
  const site = browsedServer('axel')

  const signIn = async (page: Page): Promise<void> => {
    await page.goto(site.server.url)
    await page.getByRole('button', { name: 'Kick off' }).waitFor()
    expect(await accessProblems(page), 'signed out').toEqual([])
    await site.enter(page, 'Axel')
    await page.getByRole('link', { name: /^Account of/ }).waitFor()
  }

  it.each([
    ['dark', 1280],
    ['light', 390],
  ] as const)('breaks no rule of axe, %s at %d px, and is not wider than the screen', async (colorScheme, width) => {
    const viewport = { width, height: 844 }
    const context = await site.browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' })
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    const complaints = complaintsOf(page, [new URL(site.server.url).origin])
    await signIn(page)
    const problems: string[] = []
    for (const [address, drawn] of VIEWS) {
      await page.goto(`${site.server.url}${address}`)
      await page.locator(drawn).first().waitFor()
      // The articles of all operations are of one template, and axe takes half a minute for them.
      if (address === '/api/docs')
        await page.evaluate(
          `document.querySelectorAll('article:not(:nth-of-type(10n + 1))').forEach((one) => one.remove())`,
        )
      problems.push(...(await accessProblems(page)).map((problem) => `${address}: ${problem}`))
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
      if (wide > width) problems.push(`${address}: ${wide} px wide`)
      problems.push(...(await overlaps(page)).map((pair) => `${address}: ${pair}`))
    }
    expect(problems).toEqual([])
    expect(complaints).toEqual([])
    await context.close()
  })

  it('speaks the language of the browser, or the one that is chosen, and fits the smallest phone in it', async () => {
    const viewport = { width: 320, height: 640 }
    const touched = { hasTouch: true, isMobile: true }
    const context = await site.browser.newContext({ viewport, locale: 'es-MX', reducedMotion: 'reduce', ...touched })
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    await page.goto(site.server.url)
    await page.getByLabel(es.signIn.yourName).fill('Pilar')
    const left: string[] = []
    const look = async (where: string): Promise<void> => {
      const shown = (await page.locator('body').innerText()).toLowerCase()
      left.push(...ENGLISH.filter((words) => shown.includes(words.toLowerCase())).map((words) => `${where}: ${words}`))
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
      if (wide > 320) left.push(`${where}: ${wide} px wide`)
      left.push(...(await overlaps(page)).map((pair) => `${where}: ${pair}`))
      left.push(...(await accessProblems(page)).map((problem) => `${where}: ${problem}`))
      left.push(...(await zoomed(page)).map((field) => `${where}: an iPhone zooms to ${field}`))
    }
    await look('/')
    await page.getByRole('button', { name: es.signIn.kickOff }).click()
    await page.getByRole('link', { name: 'Cuenta de Pilar' }).waitFor()
    const pilar = await site.server.user('Pilar')
    await pilar.opens(await orderOf(pilar))
    await page.goto(`${site.server.url}/#/positions`)
    await page.locator('.close.held').waitFor()
    await look('a position that is held')
    site.server.jump(HOLD_SECS)
    await page.reload()
    for (const [address, drawn] of VIEWS.slice(0, 8)) {
      await page.goto(`${site.server.url}${address}`)
      await page.locator(drawn).first().waitFor()
      // Late prices can be read, too.
      await page.evaluate("document.querySelectorAll('.tag').forEach((tag) => tag.classList.add('stale'))")
      await look(address)
    }
    expect(left).toEqual([])
    expect(await page.locator('html').getAttribute('lang')).toBe('es')
    // The API page has no Spanish.
    await page.goto(`${site.server.url}/api/docs`)
    expect(await page.evaluate('document.documentElement.scrollWidth'), 'docs').toBeLessThanOrEqual(320)
    await page.goBack()

    await page.getByLabel('Idioma').selectOption('en')
    await page.getByRole('heading', { name: 'Your limits' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Your limits' }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
    await context.close()
  })
})
