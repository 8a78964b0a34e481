/** The account page and the session of two tabs, in a real browser against the whole program. */
import type { BrowserContextOptions } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { accessProblems, hasBrowser } from '../support/browser.ts'
import { browsedServer } from '../support/browsed-server.ts'

describe.skipIf(!hasBrowser)('the account in a browser', () => {
  const site = browsedServer('boss')

  async function visit(name: string, options: BrowserContextOptions = {}) {
    const { context, page, complaints } = await site.visit({ viewport: { width: 1280, height: 800 }, ...options })
    await site.enter(page, name)
    await page.getByRole('link', { name: 'Account' }).waitFor()
    return { context, page, complaints }
  }

  const withKey = (secret: string, path: string) =>
    fetch(`${site.server.url}${path}`, { headers: { authorization: `Bearer ${secret}` } })

  it('[S17] creates a key that works, shows it once, and deletes it after a question', async () => {
    const { page, complaints } = await visit('Ada Keys')
    await page.getByRole('link', { name: 'Account' }).click()
    await page.getByLabel('Name', { exact: true }).fill('My bot')
    expect(await page.getByRole('group', { name: 'It may' }).getByRole('checkbox').count(), 'scopes of a user').toBe(2)
    await page.getByRole('button', { name: 'Create key' }).click()
    const secret = (await page.locator('.secret code').textContent()) ?? ''
    expect((await withKey(secret, '/api/wallet')).status).toBe(200)
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'keys-1280')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.reload()
    await page.getByText(/read · until .* · last used/).waitFor()
    expect(await page.content()).not.toContain(secret)

    page.once('dialog', (dialog) => void dialog.dismiss())
    await page.getByRole('button', { name: 'Delete My bot' }).click()
    expect((await withKey(secret, '/api/wallet')).status).toBe(200)
    page.once('dialog', (dialog) => void dialog.accept())
    await page.getByRole('button', { name: 'Delete My bot' }).click()
    await page.getByText('No keys.').waitFor()
    expect((await withKey(secret, '/api/wallet')).status).toBe(401)
    expect(complaints).toEqual([])
  })

  it.each(['light', 'dark'] as const)('is usable on a phone in %s colours, also by an admin', async (colorScheme) => {
    const options = { viewport: { width: 360, height: 740 }, colorScheme }
    const { page, complaints } = await visit('Boss', options)
    await page.getByRole('link', { name: 'Account' }).click()
    await page.getByLabel('Name', { exact: true }).fill(`Operator's ${colorScheme} script with a rather long name`)
    await page.getByLabel('Read as an admin').check()
    await page.getByRole('button', { name: 'Create key' }).click()
    const secret = (await page.locator('.secret code').textContent()) ?? ''
    expect((await withKey(secret, '/api/admin/settings')).status).toBe(200)
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, `keys-360-${colorScheme}`)
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(width, 'no sideways scrolling').toBe(360)
    expect(complaints).toEqual([])
  })

  it('shows a statement whose balances lead from the start to the wallet', async () => {
    const { page, complaints } = await visit('Ada Adds')
    const send = page.getByRole('button', { name: /^Go long/ }).and(page.locator(':enabled'))
    await send.click()
    await page.locator('.held > li').first().waitFor()
    await page.getByRole('link', { name: /^Account of/ }).click()
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    const statement = page.getByRole('region', { name: 'Statement: Account' }).locator('tbody tr')
    await expect.poll(() => statement.count(), { timeout: 10_000 }).toBe(2)
    const [stake, grant] = (await statement.allInnerTexts()).map((row) => row.split(/\s*[\t\n]\s*/))
    expect([grant?.[0], ...(grant?.slice(-2) ?? [])]).toEqual(['Starting balance', '+10,000.00', '10,000.00'])
    expect(stake?.[0]).toBe('Stake of a new position')
    expect(stake?.[1], 'the player').toMatch(/^\S+ \S+ · /)
    const free = await page.locator('.money .num').nth(1).textContent()
    expect(stake?.at(-1)).toBe(free)
    expect(complaints).toEqual([])
  })

  it('[S2] shares one rotation of the session among its tabs', async () => {
    const { context, page } = await visit('Ada Tabs')
    const tabs = [page, await context.newPage(), await context.newPage()]
    for (const tab of tabs.slice(1)) {
      await tab.goto(site.server.url)
      await tab.getByRole('link', { name: 'Account' }).waitFor()
    }
    const rotations: number[] = []
    context.on('response', (response) => {
      if (response.url().endsWith('/api/auth/refresh')) rotations.push(response.status())
    })
    // The access token has expired in all of them, and each asks for something at the same moment.
    site.server.jump(16 * 60)
    await Promise.all(tabs.map((tab) => tab.evaluate("location.hash = '#/account'")))
    await Promise.all(tabs.map((tab) => tab.getByText('No keys.').waitFor()))
    expect(rotations).toEqual([200])
  })
})
