/**
 * Pictures of the main views of the page, at three widths, light and dark, as PNG files in a folder.
 *
 *   npm run ops -- page-shots [folder, page-shots]
 *
 * It starts a demo of its own, signs in, and opens a position, so that the views have something to show. Needs Chromium
 * (`CHROMIUM` names another program).
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { z } from 'zod'
import { openDemo } from './demo.ts'

const WIDTHS = [1440, 390, 320]
const HEIGHTS: Readonly<Record<number, number>> = { 1440: 900, 390: 844, 320: 640 }
const COLOURS = ['dark', 'light'] as const
/** Each with its address and what is there once it is drawn. */
const VIEWS: readonly (readonly [name: string, address: string, drawn: string])[] = [
  ['match', '/#/match', '.grass'],
  ['trade', '/#/trade', '.ticket'],
  ['positions', '/#/positions', '.held'],
  ['league', '/#/league', '.page .card'],
  ['club', '/#/club', '.page .card'],
  ['inbox', '/#/inbox', '.page .card'],
  ['account', '/#/account', '.page .card'],
  ['control', '/#/control/health', '.page .card'],
  ['docs', '/api/docs', '#quickstart'],
]
/** For prices, charts and pictures to arrive. */
const SETTLE_MS = 1_500

const folder = process.argv[2] ?? 'page-shots'
await mkdir(folder, { recursive: true })
const demo = await openDemo({ ADMIN_EMAILS: 'ada@synthetic.invalid', RATE_LIMIT_PER_MIN: '0', DEMO_SPEED: '4' })
let count = 0
let league = ''
try {
  for (const colorScheme of COLOURS) {
    for (const width of WIDTHS) {
      const viewport = { width, height: HEIGHTS[width] ?? 900 }
      const context = await demo.browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' })
      const page = await context.newPage()
      const take = async (name: string): Promise<void> => {
        await page.waitForTimeout(SETTLE_MS)
        await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) })
        count++
      }
      await page.goto(demo.url)
      await page.getByRole('button', { name: 'Kick off' }).waitFor()
      await take('door')
      await signIn(page)
      if (count === 1) {
        await trade(page)
        league = await compete(page)
      }
      for (const [name, address, drawn] of [...VIEWS, ['table', league, '.board'] as const]) {
        await page.goto(`${demo.url}${address}`)
        await page.locator(drawn).first().waitFor()
        await take(name)
      }
      await context.close()
      console.log(`${width} px, ${colorScheme}: ${VIEWS.length + 2} pictures`)
    }
  }
  console.log(`${count} pictures in ${folder}`)
} finally {
  await demo.close()
}

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('Your name').fill('Ada')
  await page.getByRole('button', { name: 'Kick off' }).click()
  await page.getByRole('link', { name: /^Account of/ }).waitFor()
}

async function trade(page: Page): Promise<void> {
  await page.goto(`${demo.url}/#/trade`)
  await page
    .getByRole('button', { name: /^Go long/ })
    .and(page.locator(':enabled'))
    .click()
  await page.locator('.held > li').first().waitFor()
}

/** A league, a season and a tournament to look at. Returns the address of the league's table. */
async function compete(page: Page): Promise<string> {
  const post = async (path: string, data: object): Promise<unknown> => {
    const answer = await page.request.post(`${demo.url}${path}`, { data })
    if (!answer.ok()) throw new Error(`${path} was answered ${answer.status()}: ${await answer.text()}`)
    return answer.json()
  }
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
  await post('/api/seasons/enter', {})
  await post('/api/admin/tournaments', { name: 'Friday Night Cup', startsAt: inAnHour })
  const wanted = { name: 'Harbour Friends', endsAt: inAnHour, matches: 'all' }
  const { id } = z.object({ id: z.string() }).parse(await post('/api/leagues', wanted))
  return `/#/league/${id}`
}
