/** Two people play against each other in a private league, each in their own browser. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { accessProblems, hasBrowser } from '../support/browser.ts'
import { browsedServer } from '../support/browsed-server.ts'

describe.skipIf(!hasBrowser)('a private league', () => {
  const site = browsedServer()

  async function visitor(path = '/') {
    return site.visit({ viewport: { width: 1280, height: 900 } }, path)
  }
  const enter = async (page: Page, name: string): Promise<void> => {
    await site.enter(page, name)
  }

  it('is founded, joined by a link, traded and ranked, and nobody else notices', async () => {
    const ada = await visitor()
    await enter(ada.page, 'Ada Founder')
    await ada.page.getByRole('link', { name: 'League', exact: true }).click()
    await ada.page.getByRole('button', { name: 'Start a league' }).click()
    await ada.page.getByLabel('Its name').fill('Harbour <b>Friends</b>')
    const rival = await site.server.user('Rival Member')
    const [match] = await rival.matches()
    if (match?.purse === 'practice') await ada.page.getByRole('button', { name: 'Recordings' }).click()
    await ada.page.getByRole('button', { name: 'Start it' }).click()
    await ada.page.getByRole('heading', { name: 'Harbour <b>Friends</b>' }).waitFor()
    const link = await ada.page.locator('.invite a').getAttribute('href')
    expect(await accessProblems(ada.page)).toEqual([])

    // The link names who invites, and leads to the league after the sign-in.
    const bob = await visitor(new URL(link ?? '').pathname)
    await bob.page.getByText(/invites you to the league/).waitFor()
    expect(await bob.page.locator('.inviter').innerText()).toContain('Harbour <b>Friends</b>')
    expect(await accessProblems(bob.page)).toEqual([])
    await enter(bob.page, 'Bob Guest')
    await bob.page.getByText(/invites you to/).waitFor()
    await bob.page.getByRole('button', { name: 'Join', exact: true }).click()
    await bob.page.getByRole('heading', { name: 'Harbour <b>Friends</b>' }).waitFor()

    // What pays is on the switch, in the top bar, over the match and on the button.
    const owned = new Map<string, unknown>()
    for (const purse of ['main', 'practice'] as const)
      owned.set(purse, await (await site.server.user('Bob Guest')).wallet(purse))
    await bob.page.getByRole('button', { name: 'Trade in this league' }).click()
    const money = bob.page.getByRole('group', { name: 'Which money you trade with' })
    await money
      .getByRole('button', { name: 'Harbour <b>Friends</b>' })
      .and(bob.page.locator('[aria-pressed=true]'))
      .waitFor()
    await bob.page.getByRole('region', { name: 'League' }).getByText('Your orders move no price').waitFor()
    await bob.page.locator('.money.league').getByText('Harbour <b>Friends</b> value').waitFor()

    // Back and forward are the player and the money of then. What joining said covers the last of the players.
    const pressed = (which: 'first' | 'last') =>
      money.locator('button')[which]().and(bob.page.locator('[aria-pressed=true]'))
    await money.getByRole('button').first().click()
    await pressed('first').waitFor()
    const before = bob.page.url()
    await bob.page.locator('.player:not([aria-current=true]):not([aria-pressed=true])').first().click()
    await bob.page.waitForURL((url) => url.href !== before)
    await money.getByRole('button').last().click()
    await pressed('last').waitFor()
    const later = bob.page.url()
    await bob.page.goBack()
    await pressed('first').waitFor()
    expect(bob.page.url()).toBe(before)
    await bob.page.goForward()
    await pressed('last').waitFor()
    expect(bob.page.url()).toBe(later)

    // A review is about the money of one purse.
    await bob.page.getByLabel('Stake in units').fill('2600')
    await (await site.tradable(bob.page, /^Go long.*of Harbour <b>Friends<\/b> money/s)).click()
    const review = bob.page.getByRole('heading', { name: /^Look again/ })
    await review.waitFor()
    await money.getByRole('button').first().click()
    await review.waitFor({ state: 'detached' })
    await money.getByRole('button').last().click()
    await pressed('last').waitFor()
    await bob.page.getByLabel('Stake in units').fill('50')

    const send = await site.tradable(bob.page, /^Go long.*of Harbour <b>Friends<\/b> money/s)
    expect(await accessProblems(bob.page)).toEqual([])
    await send.click()
    await bob.page.getByRole('button', { name: 'Open 1', exact: true }).waitFor()
    await bob.page.locator('.held').getByText('Harbour <b>Friends</b>').waitFor()

    await site.closes(bob.page)
    for (const purse of ['main', 'practice'] as const) {
      expect(await (await site.server.user('Bob Guest')).wallet(purse), purse).toEqual(owned.get(purse))
    }

    await ada.page.reload()
    const table = ada.page.getByRole('region', { name: 'Table' })
    await table.getByText('bob_guest').waitFor()
    expect(await table.getByRole('row').count()).toBe(3)
    await ada.page.getByText('A single match').click()
    await ada.page.getByLabel('Match').selectOption({ index: 1 })
    await ada.page.locator('.standings').getByText('bob_guest').waitFor()
    expect(bob.complaints.filter((text) => !text.includes('status of 409'))).toEqual([])
    expect(ada.complaints).toEqual([])
  })

  it('the league of a season is named in the language of the page', async () => {
    const { page } = await site.visit({ viewport: { width: 1280, height: 900 }, locale: 'es-ES' })
    await page.getByLabel('Tu nombre').fill('Pilar')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Cuenta de Pilar' }).waitFor()
    await page.goto(`${site.server.url}/#/league`)
    await page.getByRole('button', { name: 'Entrar en la temporada' }).click()
    await page.getByRole('link', { name: 'La tabla de tu grupo' }).click()
    const month = new Intl.DateTimeFormat('es', { month: 'long', year: 'numeric', timeZone: 'UTC' })
    const name = `${month.format(site.server.now)}, división 5, grupo 1`
    await page.getByRole('heading', { name }).waitFor()
    await page.getByRole('link', { name: 'Operar' }).click()
    await page.getByRole('button', { name }).waitFor()
  })
})
