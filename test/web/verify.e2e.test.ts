/** The page that proves a match, in a real browser against the whole program. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { launch } from '../../ops/page/browser.ts'
import { accessProblems, complaintsOf, hasBrowser } from '../support/browser.ts'
import { ComposedServer } from '../support/composed-server.ts'
import { embeddedPlace } from '../support/data-place.ts'
import type { HttpClient } from '../support/http-client.ts'

const HOLD_SECS = 200
const PATIENCE = { timeout: 30_000, interval: 200 }

describe.skipIf(!hasBrowser)('the page that proves a match', () => {
  let server: ComposedServer
  let browser: Browser
  let page: Page
  let fan: HttpClient
  let complaints: readonly string[]
  let matchId: number
  let position: string

  beforeAll(async () => {
    const place = await embeddedPlace()
    server = await ComposedServer.open({ ...place, env: { ...place.env, ADMIN_EMAILS: 'boss@synthetic.invalid' } })
    browser = await launch()
    const context = await browser.newContext()
    page = await context.newPage()
    page.setDefaultTimeout(30_000)
    complaints = complaintsOf(page, [new URL(server.url).origin])
    await page.goto(server.url)
    await page.getByLabel('Your name').fill('Ada Proves')
    await page.getByRole('button', { name: 'Kick off' }).click()
    await page.getByRole('link', { name: /^Account of/ }).waitFor()
    fan = await server.user('Ada Proves')
    const player = present(
      (await fan.instruments()).find(({ tradingStatus }) => tradingStatus === 'OPEN'),
      'player',
    )
    const order = {
      instrumentId: player.id,
      direction: 'long',
      lotSize: 0.5,
      clientPrice: player.currentPrice,
    } as const
    const opened = await fan.opens({ ...order, stopLoss: Math.floor(player.currentPrice * 0.95) })
    position = opened.position.id
    matchId = server.matchId
    await server.play(HOLD_SECS / 10)
    // A page that still shows the match would ask what an order costs, and be refused.
    await page.goto('about:blank')
    const boss = await server.user('Boss')
    await boss.request('POST', '/api/admin/gameplay-bot/stop', {})
    await vi.waitUntil(async () => (await fan.positions()).length === 0, PATIENCE)
    // Until visitors may see the end.
    server.jump(60)
    await vi.waitUntil(async () => (await tape()).headers.get('cache-control')?.includes('immutable'), PATIENCE)
  })
  afterAll(async () => {
    await browser.close()
    await server.close()
  })

  const tape = (): Promise<Response> => fetch(`${server.url}/api/public/tape/${matchId}`)
  const result = async (): Promise<string> => {
    await page.locator('#result:not([hidden])').waitFor()
    return (await page.locator('#result').textContent()) ?? ''
  }

  it('[J8] proves the match of a closed position, and shows its owner the lines', async () => {
    await page.goto(`${server.url}/#/trade`)
    await page.reload()
    await page.getByRole('button', { name: 'Closed' }).click()
    await page.getByRole('link', { name: 'Prove it' }).click()
    const text = await result()
    expect(text).toContain(`Match ${matchId} is proved`)
    expect(text).toMatch(/\w+ \d–\d \w+/)
    expect(text).toMatch(/checkpoints? (is|are) signed/)
    expect(text).toMatch(/Your position.*opened long, 0\.5 lots.*closed by full time/)
    expect(new URL(page.url()).searchParams.get('position')).toBe(position)
    expect(complaints).toEqual([])
  })

  it('[J9] names the line of a file that somebody has changed', async () => {
    const lines = (await (await tape()).text()).trimEnd().split('\n')
    const at = lines.findIndex((line) => line.includes('"kind":"open"'))
    const forged = present(lines[at], 'line').replace(
      /"price":(\d)/,
      (_, digit: string) => `"price":${(Number(digit) % 9) + 1}`,
    )
    await page.goto(`${server.url}/verify`)
    const file = (text: string) => ({ name: 'tape.ndjson', mimeType: 'text/plain', buffer: Buffer.from(text) })
    await page.locator('#files').setInputFiles(file(lines.with(at, forged).join('\n')))
    expect(await result()).toContain(`Line ${at + 1} does not hold`)
    await page.locator('#files').setInputFiles(file('no tape'))
    await page.getByText('None of these files is the beginning of a tape.').waitFor()
    expect(complaints).toEqual([])
  })

  it('fits every width and passes axe in dark and light', async () => {
    for (const width of [1280, 390, 320]) {
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.setViewportSize({ width, height: 800 })
        await page.emulateMedia({ colorScheme })
        await page.goto(`${server.url}/verify?match=${matchId}`)
        await result()
        expect(await accessProblems(page), `${width} ${colorScheme}`).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth'), `${width}`).toBeLessThanOrEqual(width)
      }
    }
  })
})
