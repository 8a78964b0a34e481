/** The integrity desk of the control room, in a real browser against the whole program. */
import type { BrowserContextOptions } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { accessProblems, hasBrowser } from '../support/browser.ts'
import { browsedServer } from '../support/browsed-server.ts'
import { HttpClient } from '../support/http-client.ts'
import { PATIENCE } from '../support/process.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

describe.skipIf(!hasBrowser)('the integrity desk in a browser', () => {
  const site = browsedServer('boss')

  /** A new user who has opened a position. */
  async function holder(name: string) {
    const fan = new HttpClient(site.server.url)
    const { userId } = await fan.signIn(name)
    const player = await vi.waitUntil(
      async () => (await fan.instruments()).find(({ tradingStatus }) => tradingStatus === 'OPEN'),
      PATIENCE,
    )
    const { id, currentPrice } = present(player, 'a player')
    const order = { instrumentId: id, direction: 'long', lotSize: 0.5, clientPrice: currentPrice } as const
    expect((await fan.open(order, name)).status).toBe(201)
    return { fan, userId, order }
  }

  /** A page on which the admin has signed in. */
  async function boss(options: BrowserContextOptions = {}) {
    const { context, page, complaints } = await site.visit(options)
    await site.enter(page, 'Boss')
    await page.getByRole('link', { name: 'Account' }).waitFor()
    return { context, page, complaints }
  }

  it('[C7][C8] shows the risk and a user, voids a position and freezes the user, each for a reason', async () => {
    const { fan, userId, order } = await holder('Fan')

    const { context, page, complaints } = await boss({ viewport: { width: 1440, height: 900 } })

    await page.goto(`${site.server.url}/#/control/risk`)
    await page
      .getByRole('region', { name: 'Open by match: list' })
      .getByText('Port Ellery – Valdoro Athletic')
      .waitFor()
    await page.getByRole('region', { name: 'Open by player: list' }).getByRole('row').nth(1).waitFor()
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'risk-1440')
    await page.goto(`${site.server.url}/#/control/users`)
    await page.getByRole('link', { name: 'fan', exact: true }).click()
    await page.getByRole('heading', { name: 'fan', exact: true }).waitFor()
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'person-1440')

    page.once('dialog', (dialog) => void dialog.dismiss())
    await page.getByRole('button', { name: 'Void' }).click()
    expect(await fan.positions('open')).toHaveLength(1)
    page.once('dialog', (dialog) => void dialog.accept('beside the pitch'))
    await page.getByRole('button', { name: 'Void' }).click()
    await page.getByText('Void: an operator took it out. beside the pitch').waitFor()
    expect(await fan.positions('open')).toEqual([])

    page.once('dialog', (dialog) => void dialog.accept('asked why trades are void'))
    await page.getByRole('button', { name: 'Note something' }).click()
    await page.getByText('user.note by boss: asked why trades are void').waitFor()

    page.once('dialog', (dialog) => void dialog.accept('ten opens before goals'))
    await page.getByRole('button', { name: 'Freeze' }).click()
    await page.getByRole('button', { name: 'Unfreeze' }).waitFor()
    const opened = async () => (await fan.open(order, 'two')).status
    expect(await opened()).toBeOneOf([401, 403])
    await expect.poll(opened, PATIENCE).toBe(401) // then they are signed out as well
    await page.setViewportSize({ width: 390, height: 844 })
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'person-390-dark')
    expect(new URL(page.url()).hash).toBe(`#/control/users/${userId}`)
    expect(complaints).toEqual([])
    await context.close()
  })

  it('brakes one match and one player, sees what users see, and releases both where they need attention', async () => {
    const { fan, order } = await holder('Bea Brake')
    const { context, page, complaints } = await boss({ viewport: { width: 1440, height: 900 }, colorScheme: 'dark' })
    await page.goto(`${site.server.url}/#/control`)

    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.message())
      void dialog.accept()
    })
    const row = page.locator('.brakes .rows > li').first()
    const modes = row.getByRole('group', { name: /^Trading on/ }).first()
    await modes.getByRole('button', { name: 'Close only' }).click()
    await modes.getByRole('button', { name: 'Close only', pressed: true }).waitFor()
    await row.getByText('users see it suspended').waitFor()
    expect(asked[0]).toMatch(/Nobody can open there\. Users can still close\./)
    // A key of its own each time: one that came before the brake would be answered 201 for ever.
    let tries = 0
    await expect.poll(async () => (await fan.open(order, `braked ${++tries}`)).status, PATIENCE).toBe(409)

    const attention = page.getByRole('region', { name: 'Needs attention' })
    await attention.getByText(/A brake is on \S.* – .*: close only/).waitFor()
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'brakes-1440-dark')
    await attention.getByRole('button', { name: 'Release' }).click()
    await modes.getByRole('button', { name: 'Open', pressed: true }).waitFor()

    await row.getByRole('button', { name: 'Players and ending' }).click()
    const player = row.locator('.players-of > li').first()
    await player.getByRole('button', { name: 'Halted' }).click()
    await player.getByRole('button', { name: 'Halted', pressed: true }).waitFor()
    await player.getByText('suspended').waitFor()
    await player.getByRole('button', { name: 'Open', exact: true }).click()
    await player.getByRole('button', { name: 'Open', pressed: true }).waitFor()
    expect(asked).toHaveLength(2)

    await page.goto(`${site.server.url}/#/control/runbook/the-brake`)
    await page.getByRole('heading', { name: 'The brake' }).waitFor()
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'runbook-1440-dark')
    expect(complaints).toEqual([])
    await context.close()
  })

  it('settings are in groups with a search, and a dangerous one asks whom it concerns', async () => {
    const { context, page } = await boss({ viewport: { width: 390, height: 844 }, colorScheme: 'light' })
    await page.goto(`${site.server.url}/#/control/settings`)
    await page.getByText('Points: multipliers of forwards').waitFor()
    expect(await page.locator('.groups details[open]').count()).toBe(0)
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'settings-390-light')

    const isOn = async () =>
      ((await (await page.request.get(`${site.server.url}/api/flags`)).json()) as { coming_soon?: boolean }).coming_soon
    page.once('dialog', (dialog) => {
      expect(dialog.message()).toContain('Nobody but admins can use the service')
      void dialog.dismiss()
    })
    await page.getByLabel('coming_soon').click()
    expect(await isOn()).not.toBe(true)

    await page.getByLabel('Find a setting').fill('hold_secs')
    await page.getByLabel('trading.hold_secs', { exact: true }).fill('-5')
    await page.keyboard.press('Tab')
    await page.getByText('must be a whole number from 0 to 3600').waitFor()
    await context.close()
  })

  it('tries a draft of settings on a recording, and sets nothing', async () => {
    const { context, page, complaints } = await boss({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' })
    await page.goto(`${site.server.url}/#/control/what-if`)
    const inForce = async (): Promise<unknown> =>
      (await page.request.get(`${site.server.url}/api/admin/settings`)).json()
    const before = await inForce()
    await page.getByLabel('Setting', { exact: true }).fill('scoring.scale')
    await page.getByLabel('Value', { exact: true }).fill('3')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByRole('list', { name: 'Draft' }).getByText('2 → 3').waitFor()
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByRole('region', { name: /: outcome$/ }).waitFor()
    expect(
      await page
        .getByRole('region', { name: /: prices$/ })
        .getByRole('row')
        .count(),
    ).toBe(21)
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'what-if-1280-light')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'what-if-1280-dark')
    expect(await inForce()).toEqual(before)
    expect(complaints).toEqual([])
    await context.close()
  })

  it('[R20] creates a webhook on a phone, which is told what happens, tries, pauses and deletes it', async () => {
    const receiver = new WebhookReceiver()
    await receiver.listen()
    const { context, page, complaints } = await site.visit({
      viewport: { width: 390, height: 844 },
      colorScheme: 'light',
    })
    page.on('dialog', (dialog) => void dialog.accept())
    await site.enter(page, 'Boss')
    await page.getByRole('link', { name: 'Account' }).waitFor()
    await page.goto(`${site.server.url}/#/control/webhooks`)
    await page.getByText('No webhook yet.').waitFor()
    await page.getByLabel('Address').fill(`${receiver.url}?${'long'.repeat(40)}`)
    await page.getByLabel('position.opened').check()
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const secret = page.getByText(/^whsec_/)
    receiver.secret = await secret.textContent()
    await holder('Told')
    await expect.poll(() => receiver.taken.length, PATIENCE).toBeGreaterThan(0)
    expect(receiver.taken.flatMap(({ events }) => events.map(({ type }) => type))).toContain('position.opened')
    await page.getByText(/last success \d/).waitFor()
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText('The test message arrived').waitFor()
    expect(receiver.taken.at(-1)?.type).toMatch(/^(webhook\.test|touchline\.events)$/)
    receiver.conduct = () => 500
    await holder('Untold')
    await page.getByText(/Failing since .*: answered 500/).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'webhooks-390-light')
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No webhook yet.').waitFor()
    expect([receiver.problems, complaints]).toEqual([[], []])
    await context.close()
    await receiver.kill()
  })

  it('[S23] an admin whose sign-in is old signs in from the message, and goes on', async () => {
    const { userId } = await holder('Old Fan')
    const { context, page } = await boss()
    await page.goto(`${site.server.url}/#/control/users/${userId}`)
    const freeze = page.getByRole('button', { name: 'Freeze' })
    await freeze.waitFor()
    site.server.jump(16 * 60)
    page.on('dialog', (dialog) => void dialog.accept('a reason'))
    await freeze.click()
    await page.getByRole('button', { name: 'Sign in again' }).click()
    await page.getByText('Signed in again').waitFor()
    await freeze.click()
    await page.getByRole('button', { name: 'Unfreeze' }).waitFor()
    await context.close()
  })
})
