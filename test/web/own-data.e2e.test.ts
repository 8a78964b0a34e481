/** A user's own limits and data on the account page, in a real browser against the whole program. */
import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { accessProblems, complaintsOf, hasBrowser, launch } from '../support/browser.ts'
import { ComposedServer } from '../support/composed-server.ts'
import { embeddedPlace } from '../support/data-place.ts'

const SIZES = [
  { width: 1280, height: 900 },
  { width: 360, height: 740 },
]

describe.skipIf(!hasBrowser)('the account page', () => {
  let server: ComposedServer
  let browser: Browser
  beforeAll(async () => {
    server = await ComposedServer.open(await embeddedPlace())
    browser = await launch()
  })
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())))
  afterAll(async () => {
    await browser.close()
    await server.close()
  })

  const enter = async (page: Page, name: string) => {
    await page.getByLabel('Your name').fill(name)
    await page.getByRole('button', { name: 'Kick off' }).click()
    await page.getByRole('link', { name: /^Account of/ }).waitFor()
  }
  async function visit(name: string, options: Parameters<Browser['newContext']>[0] = {}) {
    const context = await browser.newContext({ acceptDownloads: true, reducedMotion: 'reduce', ...options })
    const page = await context.newPage()
    page.setDefaultTimeout(10_000)
    const complaints = complaintsOf(page, [new URL(server.url).origin])
    await page.goto(server.url)
    await enter(page, name)
    await page.goto(`${server.url}/#/account`)
    await page.getByText('No limit.').waitFor()
    return { page, complaints }
  }

  it('[L3] sets a limit at once, shows the looser one that waits, and pauses trading', async () => {
    const { page, complaints } = await visit('Ada Limits')
    const amount = page.getByLabel('Most you can lose in a day')
    await amount.fill('250')
    await page.getByRole('button', { name: 'Set', exact: true }).click()
    await page.locator('.own b').getByText('250.00').waitFor()
    await amount.fill('900')
    await page.getByRole('button', { name: 'Set', exact: true }).click()
    await page.getByText(/^\s*900\.00 from/).waitFor()
    await page.getByLabel('How long').selectOption('7')
    page.once('dialog', (dialog) => void dialog.accept())
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByText(/^You open nothing until/).waitFor()
    expect(complaints).toEqual([])
  })

  it('[Y1] downloads a file with everything, and hides from the boards', async () => {
    const { page, complaints } = await visit('Ada Download')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download my data' }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/^touchline-ada_download-\d{4}-\d\d-\d\d\.json$/)
    const document: unknown = JSON.parse(readFileSync(await download.path(), 'utf8'))
    expect(document).toMatchObject({ profile: [{ username: 'ada_download' }], wallets: [{}, {}] })
    await page.getByLabel(/^Hide me/).check()
    await page.reload()
    await page.getByLabel(/^Hide me/).waitFor()
    expect(await page.getByLabel(/^Hide me/).isChecked()).toBe(true)
    expect(complaints).toEqual([])
  })

  it('[Y2] deletes the account by its username, and signing in takes it back', async () => {
    const { page } = await visit('Ada Leaves')
    await page.getByRole('button', { name: 'Delete my account…' }).click()
    const last = page.getByRole('button', { name: 'Delete my account', exact: true })
    await page.getByLabel(/^Type your username/).fill('someone')
    expect(await last.isDisabled()).toBe(true)
    await page.getByLabel(/^Type your username/).fill('ada_leaves')
    await last.click()
    await page.getByText(/^Your account will be deleted on/).waitFor()
    await enter(page, 'Ada Leaves')
    await page.getByText('Your account stays').waitFor()
  })

  it('fits every width and passes axe in dark and light', async () => {
    for (const viewport of SIZES) {
      for (const colorScheme of ['dark', 'light'] as const) {
        const { page } = await visit(`Ada ${viewport.width} ${colorScheme}`, { viewport, colorScheme })
        await page.getByLabel('Most you can lose in a day').fill('250')
        await page.getByRole('button', { name: 'Set', exact: true }).click()
        await page.locator('.own b').getByText('250.00').waitFor()
        await page.getByRole('button', { name: 'Delete my account…' }).click()
        await page.locator('.toast').first().waitFor({ state: 'detached' })
        const name = `${viewport.width} ${colorScheme}`
        expect(await page.evaluate<number>('document.documentElement.scrollWidth'), name).toBe(viewport.width)
        expect(await accessProblems(page), name).toEqual([])
      }
    }
  })
})
