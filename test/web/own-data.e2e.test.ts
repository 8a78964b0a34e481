/** A user's own limits and data on the account page, in a real browser against the whole program. */
import { readFileSync } from 'node:fs'
import type { Page, BrowserContextOptions } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { accessProblems, hasBrowser } from '../support/browser.ts'
import { browsedServer } from '../support/browsed-server.ts'

const SIZES = [
  { width: 1280, height: 900 },
  { width: 360, height: 740 },
]

describe.skipIf(!hasBrowser)('the account page', () => {
  const site = browsedServer()

  const enter = async (page: Page, name: string) => {
    await site.enter(page, name)
    await page.getByRole('link', { name: /^Account of/ }).waitFor()
  }
  async function visit(name: string, options: BrowserContextOptions = {}) {
    const { page, complaints } = await site.visit({
      acceptDownloads: true,
      reducedMotion: 'reduce',
      ...options,
    })
    await enter(page, name)
    await page.goto(`${site.server.url}/#/account`)
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
    // It holds for a day more, so the button stays, and so does the focus.
    const remove = page.getByRole('button', { name: 'Remove', exact: true })
    await remove.press('Enter')
    await page.getByText(/^\s*no limit from/i).waitFor()
    expect(await remove.and(page.locator(':focus')).count()).toBe(1)
    await page.getByLabel('How long').selectOption('7')
    page.once('dialog', (dialog) => void dialog.accept())
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByText(/^You cannot open positions until/).waitFor()
    // A shorter pause would end the break sooner.
    expect(await page.getByLabel('How long').locator('option').allTextContents()).not.toContain('1 day')
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
    // It shows what the server has answered.
    await page.getByLabel(/^Hide me/).click()
    await page.getByRole('checkbox', { name: /^Hide me/, checked: true }).waitFor()
    await page.reload()
    await page.getByLabel(/^Hide me/).waitFor()
    expect(await page.getByLabel(/^Hide me/).isChecked()).toBe(true)
    // They are on no board, whatever they close.
    const ranked = page.waitForResponse('**/api/leaderboard/me/context*')
    await page.goto(`${site.server.url}/#/league`)
    await (await ranked).finished()
    await page.getByText('No closed positions yet. Be the first.').waitFor()
    expect(await page.getByText('Close your first position').count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('[Y2] deletes the account by its username, and signing in takes it back', async () => {
    const { page } = await visit('Ada Leaves')
    const ask = page.getByRole('button', { name: 'Delete my account…' })
    await ask.press('Enter')
    await page.locator('.facts:focus').waitFor()
    await page.getByRole('button', { name: 'Keep it' }).press('Enter')
    await ask.and(page.locator(':focus')).press('Enter')
    const last = page.getByRole('button', { name: 'Delete my account', exact: true })
    await page.getByLabel(/^Type your username/).fill('someone')
    expect(await last.isDisabled()).toBe(true)
    await page.getByLabel(/^Type your username/).fill('ada_leaves')
    await last.click()
    await page.getByText(/^Your account will be deleted on/).waitFor()
    await site.enter(page, 'Ada Leaves')
    await page.getByText('Your account stays').waitFor()
    await page.getByRole('link', { name: /^Account of/ }).waitFor()
  })

  it('a switch keeps the focus while it is set, and so does the card of a row that goes', async () => {
    const { page } = await visit('Ada Focus')
    const kind = page.getByRole('checkbox', { name: 'A position is washed out' })
    await page.evaluate('PushManager.prototype.subscribe = () => new Promise((_, no) => (window.refuse = no))')
    await kind.press('Space')
    await page.waitForFunction('window.refuse !== undefined')
    await page.locator('[aria-disabled=true]:focus').waitFor()
    // By the second frame the browser has taken the focus from what can no longer have it.
    await page.evaluate('new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))')
    expect(await kind.and(page.locator(':focus')).count()).toBe(1)
    await page.evaluate('window.refuse()')
    await page.locator('.toast').getByText('Not changed').waitFor()
    expect(await kind.and(page.locator(':focus')).count()).toBe(1)
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('My bot')
    await page.getByRole('button', { name: 'Create key' }).click()
    page.once('dialog', (dialog) => void dialog.accept())
    await page.getByRole('button', { name: 'Delete My bot' }).press('Enter')
    await page.getByText('No keys.').waitFor()
    await page.locator('#keys-title:focus').waitFor()
  })

  it('fits every width and passes axe in dark and light', async () => {
    const { page } = await visit('Ada Sizes')
    await page.getByLabel('Most you can lose in a day').fill('250')
    await page.getByRole('button', { name: 'Set', exact: true }).click()
    await page.locator('.own b').getByText('250.00').waitFor()
    await page.getByRole('button', { name: 'Delete my account…' }).click()
    await page.locator('.toast').first().waitFor({ state: 'detached' })
    for (const viewport of SIZES) {
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.setViewportSize(viewport)
        await page.emulateMedia({ colorScheme })
        const name = `${viewport.width} ${colorScheme}`
        expect(await page.evaluate<number>('document.documentElement.scrollWidth'), name).toBe(viewport.width)
        expect(await accessProblems(page), name).toEqual([])
      }
    }
  })
})
