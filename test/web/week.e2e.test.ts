/** What brings people back: followed players, price alerts and the table of a match, in a real browser. */
import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { accessProblems, hasBrowser } from '../support/browser.ts'
import { browsedServer } from '../support/browsed-server.ts'

const HOLD_SECS = 181
const PHONE = { width: 390, height: 844 }

describe.skipIf(!hasBrowser)('every day of the week', () => {
  const site = browsedServer()

  it('[R31] a fan follows a player, waits for a price, and finds both in the account', async () => {
    const { page, complaints } = await site.visit({ viewport: { width: 1440, height: 900 } })
    await site.enter(page, 'Ada Week')
    const chart = page.getByRole('region', { name: await page.locator('#player-name').innerText() })
    const star = chart.getByRole('button', { name: /^Follow / })
    await star.click()
    await chart.locator('.star[aria-pressed=true]').waitFor()
    await chart.getByRole('button', { name: 'Price alert' }).click()
    const level = chart.getByLabel('Tell me at')
    const at = Number(await level.inputValue())
    const plot = chart.locator('.plot')
    const { width = 0, height = 0 } = (await plot.boundingBox()) ?? {}
    // The chart, which is not there at once, takes no tap before.
    const tap = async (): Promise<number> => {
      await plot.click({ position: { x: width / 3, y: height * 0.05 } })
      return Number(await level.inputValue())
    }
    await expect.poll(tap, { timeout: 20_000 }).toBeGreaterThan(at)
    await level.fill('9999')
    await chart.getByRole('button', { name: 'Set', exact: true }).click()
    await page.getByText('Alert set').waitFor()
    await site.shoot(page, 'follow-1440')
    expect(await accessProblems(page)).toEqual([])

    await page.setViewportSize(PHONE)
    await page.goto(`${site.server.url}/#/account`)
    const card = page.getByRole('region', { name: 'Players you follow' })
    await card.getByText(/at 9,999\.00 or more$/).waitFor()
    await card.getByLabel('Goals').click()
    await card.getByLabel('Goals').and(page.locator(':not(:checked)')).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'follows-390')
    await card.getByRole('button', { name: /^Delete the alert for / }).click()
    await card.getByText('You have no price alerts.').waitFor()
    await card.getByRole('button', { name: /^Stop following / }).click()
    await card.getByText('You follow no players yet.').waitFor()
    expect(complaints).toEqual([])
  })

  it('[R27] a trader finds their place in the table of the match, and what is played next', async () => {
    const fan = await site.server.user('Bea Ranked')
    const open = (await fan.instruments()).find(({ tradingStatus }) => tradingStatus === 'OPEN')
    const { id = '', currentPrice = 0 } = open ?? {}
    const opened = await fan.open(
      { instrumentId: id, direction: 'long', lotSize: 0.5, clientPrice: currentPrice },
      'one',
    )
    expect(opened.status).toBe(201)
    site.server.jump(HOLD_SECS)
    const { page, complaints } = await site.visit({ viewport: { width: 1280, height: 900 } })
    await site.enter(page, 'Bea Ranked')
    await page.goto(`${site.server.url}/#/positions`)
    await page.locator('.held').getByRole('button', { name: 'Close', exact: true }).click()
    await page.getByRole('button', { name: 'Open 0', exact: true }).waitFor()
    await page.goto(`${site.server.url}/#/match`)
    const table = page.getByRole('region', { name: 'Ranks of this match' })
    await table.getByText(/^Rank \d+ of \d+$/).waitFor()
    await table.getByRole('row', { name: /bea_ranked/ }).waitFor()
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'match-table-1280')
    await table.getByRole('button', { name: 'Friends' }).click()
    await table.getByText('Rank 1 of 1').waitFor()
    await table.getByRole('button', { name: 'My leagues' }).click()
    await table.getByRole('button', { name: 'My leagues', pressed: true }).waitFor()
    await table.getByText('Rank 1 of 1').waitFor()
    await page.getByRole('region', { name: 'Coming up' }).getByText('No match is announced yet.').waitFor()
    const [match] = await fan.matches()
    const startsAt = new Date(Date.now() + 3.5 * 86_400_000).toISOString()
    await page.route('**/api/matches?state=upcoming', (route) =>
      route.fulfill({ json: { matches: [{ ...match, id: 77, state: 'NS', startsAt }] } }),
    )
    await page.reload()
    const next = page.getByRole('region', { name: 'Coming up' })
    await next.getByText('in 3 days').waitFor()
    await next.getByRole('button', { name: /^Remind me about / }).waitFor()
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'upcoming-1280')
    await page.setViewportSize(PHONE)
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)

    await page.goto(`${site.server.url}/#/account`)
    const record = page.getByRole('region', { name: 'My record' })
    await record.getByRole('button', { name: 'Show the record' }).click()
    await record.getByText('Best call').waitFor()
    await record.getByRole('row', { name: /^All 1 / }).waitFor()
    const file = await page.request.get(`${site.server.url}/api/recaps/record?type=csv`)
    expect((await file.text()).trimEnd().split('\r\n')).toHaveLength(2)
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'record-390')
    expect(complaints).toEqual([])
  })

  it('[R33] a shared link leads to the page of its player, signed in first, and from there to the ticket', async () => {
    const { page, complaints } = await site.visit({ viewport: PHONE })
    const [player] = await (await site.server.user('Cid Link')).instruments()
    const [id, name] = [player?.id ?? '', String(player?.['name'])]
    await page.goto(`${site.server.url}/player/${id}`)
    expect(await page.title()).toBe(`${name} on Touchline`)
    await site.enter(page, 'Cid Link')
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    await page.getByText('No settled match yet.').waitFor()
    expect(await accessProblems(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    await site.shoot(page, 'profile-390')
    await page.getByRole('main').getByRole('button', { name: 'Trade' }).click()
    await page.waitForURL(`**/#/trade/${id}`)
    expect(complaints).toEqual([])
  })

  it('[R29] a fan follows a player from the pitch, whose shirt is marked', async () => {
    const { page, complaints } = await site.visit({ viewport: PHONE })
    await site.enter(page, 'Dot Pitch')
    await page.goto(`${site.server.url}/#/match`)
    await page.locator('button.shirt').first().click()
    const follow = page.getByRole('dialog').getByRole('button', { name: /^Follow / })
    // Which shirt is the first changes with the line-up.
    const name = present((await follow.getAttribute('aria-label'))?.replace('Follow ', ''), 'a name')
    await follow.click()
    const followed = page.locator('.shirt', { has: page.locator('.star-mark') })
    await followed.waitFor()
    expect(await followed.textContent()).toContain(name.split(' ').at(-1))
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'follow-pitch-390')
    expect(complaints).toEqual([])
  })

  it('[R33] before kick-off the ticket says when it opens, and the chart why the price is what it is', async () => {
    const { page, complaints } = await site.visit({ viewport: PHONE })
    const tradeWindow = { open: false, status: 'CLOSED', reason: 'the match has not kicked off' }
    await page.route(/\/api\/matches(\?.*)?$/, async (route) => {
      const { matches } = await (await route.fetch()).json()
      const before = matches.map((match: { tradeWindow: object }) => ({
        ...match,
        state: 'NS',
        startsAt: '2026-05-02T14:00:00.000Z',
        tradeWindow: { ...match.tradeWindow, ...tradeWindow },
      }))
      await route.fulfill({ json: { matches: before } })
    })
    await page.route('**/api/positions/quote', async (route) => {
      const quote = await (await route.fetch()).json()
      await route.fulfill({
        json: { ...quote, refusal: { code: 'MARKET_CLOSED', error: 'market closed', tradeWindow } },
      })
    })
    await site.enter(page, 'Eve Early')
    await page.goto(`${site.server.url}/#/trade`)
    await page.getByText(/^Trading opens at kick-off, .*\bMay\b/).waitFor()
    const before = page.locator('.beforehand')
    await before.getByText(/^\d+\.\d\d at the start: /).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    await before.scrollIntoViewIfNeeded()
    await site.shoot(page, 'before-kick-off-390')
    expect(complaints).toEqual([])
  })
})
