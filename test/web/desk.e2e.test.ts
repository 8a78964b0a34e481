/** The integrity desk of the control room, in a real browser against the whole program. */
import type { BrowserContextOptions } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { accessProblems, answer, hasBrowser } from '../support/browser.ts'
import { browsedServer } from '../support/browsed-server.ts'
import { HttpClient } from '../support/http-client.ts'
import { PATIENCE } from '../support/process.ts'
import { EVENT_TYPES } from '../../src/http/event-lines.ts'
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

    const cup = { name: 'Friday Night Cup', startsAt: new Date(Date.now() + 3_600_000).toISOString() }
    const made = await page.request.post(`${site.server.url}/api/admin/tournaments`, { data: cup })
    const { id } = z.object({ id: z.string() }).parse(await made.json())
    expect((await fan.request('POST', `/api/tournaments/${id}/enter`)).status).toBe(200)

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
    await page.getByRole('heading', { name: 'Wallet: Friday Night Cup' }).waitFor()
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'person-1440')

    await page.getByRole('button', { name: 'Void' }).click()
    expect(await answer(page, 'Cancel')).toMatch(/margin of [\d.,]+ goes back.*\n.*\nIt cannot be undone/s)
    expect(await fan.positions('open')).toHaveLength(1)
    // Who goes elsewhere is not followed by the question.
    await page.getByRole('button', { name: 'Void' }).click()
    await page.getByRole('dialog').waitFor()
    await page.goBack()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.goForward()
    await page.getByRole('heading', { name: 'fan', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Void' }).click()
    await answer(page, 'Void', 'beside the pitch')
    await page.getByText('Voided by an operator. beside the pitch').waitFor()
    expect(await fan.positions('open')).toEqual([])

    await page.getByRole('button', { name: 'Add a note' }).click()
    await answer(page, 'Note it', 'asked why trades are void')
    await page.getByText('user.note by boss: asked why trades are void').waitFor()

    await page.getByRole('button', { name: 'Freeze' }).click()
    expect(await answer(page, 'Freeze', 'ten opens before goals')).toContain('They keep 0 open positions')
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

  it('brakes one match and one player for a reason, and the sentence on top says so and releases it', async () => {
    const { fan, order } = await holder('Bea Brake')
    const { context, page, complaints } = await boss({ viewport: { width: 1440, height: 900 }, colorScheme: 'dark' })
    await page.goto(`${site.server.url}/#/control`)

    const row = page.locator('.brakes .rows > li').first()
    const modes = row.getByRole('group', { name: /^Trading on/ }).first()
    await modes.getByRole('button', { name: 'Close only' }).click()
    const asked = await answer(page, 'Close only', 'a wrong goal')
    expect(asked).toMatch(/Users can open nothing there\. They can still close\./)
    expect(asked).toMatch(/\d+ open positions? with [\d.,]+ units of margin/)
    await modes.getByRole('button', { name: 'Close only', pressed: true }).waitFor()
    await row.getByText('users see it suspended').waitFor()
    // A key of its own each time: one that came before the brake would be answered 201 for ever.
    let tries = 0
    await expect.poll(async () => (await fan.open(order, `braked ${++tries}`)).status, PATIENCE).toBe(409)

    const attention = page.getByRole('region', { name: 'Needs attention' })
    await attention.getByText(/Trading on \S.* – .* is close only for \d+ \w+ by boss/).waitFor()
    expect(await accessProblems(page)).toEqual([])
    await site.shoot(page, 'brakes-1440-dark')
    await attention.getByRole('button', { name: 'Release' }).click()
    expect(await accessProblems(page), 'of the question').toEqual([])
    await answer(page, 'Release', 'it was right')
    await modes.getByRole('button', { name: 'Open', pressed: true }).waitFor()

    await row.getByRole('button', { name: 'Players and ending' }).click()
    const player = row.locator('.players-of > li').first()
    await player.getByRole('button', { name: 'Halted' }).click()
    await answer(page, 'Halt', 'a wrong card')
    await player.getByRole('button', { name: 'Halted', pressed: true }).waitFor()
    await player.getByText('suspended').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await player.getByRole('button', { name: 'Open', pressed: true }).waitFor()

    // Another operator halts it for a reason of their own: what undoes the first brake does not release the second.
    await player.getByRole('button', { name: 'Close only' }).click()
    await answer(page, 'Close only', 'a wrong name')
    await player.getByRole('button', { name: 'Close only', pressed: true }).waitFor()
    const all = await page.request.get(`${site.server.url}/api/admin/settings`)
    const { settings } = z.object({ settings: z.array(z.looseObject({ key: z.string() })) }).parse(await all.json())
    const { key } = present(
      settings.findLast((one) => one.key.startsWith('trading.mode.instrument.')),
      'a brake',
    )
    const data = { value: 'halted', reason: 'the wrong player' }
    expect((await page.request.put(`${site.server.url}/api/admin/settings/${key}`, { data })).status()).toBe(200)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('It has changed meanwhile: look at it again.').waitFor()
    await player.getByRole('button', { name: 'Halted', pressed: true }).waitFor()
    await player.getByRole('button', { name: 'Open' }).click()
    await answer(page, 'Release', 'it was another player')
    await player.getByRole('button', { name: 'Open', pressed: true }).waitFor()

    // Nor does a view that has not seen it take the place of what another operator has set.
    expect((await page.request.put(`${site.server.url}/api/admin/settings/${key}`, { data })).status()).toBe(200)
    await player.getByRole('button', { name: 'Close only' }).click()
    await page.getByRole('dialog').getByText('It has changed meanwhile').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await player.getByRole('button', { name: 'Halted', pressed: true }).waitFor()
    await player.getByRole('button', { name: 'Open' }).click()
    await answer(page, 'Release', 'it was another player again')

    await page.getByRole('group', { name: 'Trading on Every match' }).getByRole('button', { name: 'Halted' }).click()
    await answer(page, 'Halt', 'a leaked key')
    const sentence = page.getByLabel('State')
    await sentence.getByText(/^Trading is halted for \d+ \w+ by boss\.$/).waitFor()
    await page.setViewportSize({ width: 390, height: 844 })
    const box = await sentence.getByRole('button', { name: 'Release' }).boundingBox()
    expect(box === null ? 0 : box.y + box.height, 'above the fold').toBeLessThan(400)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await sentence.getByRole('button', { name: 'Release' }).click()
    await answer(page, 'Release', 'it was replaced')
    await sentence.getByText('Trading is halted').waitFor({ state: 'detached' })
    await page.setViewportSize({ width: 1440, height: 900 })

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
    await page.getByLabel('coming_soon').click()
    expect(await answer(page, 'Cancel')).toContain('All but admins are cut off')
    expect(await isOn()).not.toBe(true)

    await page.getByLabel('Find a setting').fill('hold_secs')
    await page.getByLabel('trading.hold_secs', { exact: true }).fill('-5')
    await page.keyboard.press('Tab')
    await page.getByText(/must be a whole number from 0 to 3600/i).waitFor()
    await answer(page, 'Cancel')
    expect(await page.getByLabel('trading.hold_secs', { exact: true }).inputValue()).toBe('180')
    await page.getByLabel('trading.hold_secs', { exact: true }).fill('60')
    await page.keyboard.press('Enter')
    expect(await answer(page, 'Set it', 'too long')).toMatch(/180 → 60/)
    await page.getByRole('button', { name: 'History of trading.hold_secs' }).click()
    await page.getByText(/180 → 60.*boss: too long/).waitFor()
    await page.getByRole('button', { name: 'Reset trading.hold_secs' }).click()
    await answer(page, 'Set it', 'as it was')
    await page.getByRole('button', { name: 'Reset trading.hold_secs', disabled: true }).waitFor()
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
    await page.getByLabel('Seeds').fill('2')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText('Means over 2 seeds').waitFor({ timeout: 200_000 })
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
    await site.enter(page, 'Boss')
    await page.getByRole('link', { name: 'Account' }).waitFor()
    await page.goto(`${site.server.url}/#/control/webhooks`)
    await page.getByText('No webhook yet.').waitFor()
    for (const type of Object.values(EVENT_TYPES)) await page.getByLabel(type, { exact: true }).waitFor()
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
    await answer(page, 'Remove', 'its receiver moved')
    await page.getByText('No webhook yet.').waitFor()
    expect([receiver.problems, complaints]).toEqual([[], []])
    await context.close()
    await receiver.kill()
  })

  it('pages of the audit log and of users are those that are shown, and one that fails says so', async () => {
    const { page } = await boss()
    const at = new Date(0).toISOString()
    const rest = { subjectName: null, before: null, after: null, reason: null, outcome: 'ok', actor: null, at }
    const nexts: Record<string, string | null> = { first: 'second', second: 'third', third: null }
    let held = ''
    await page.route(/\/api\/admin\/audit\?/, async (route) => {
      const of = new URL(route.request().url()).searchParams.get('cursor') ?? 'first'
      if (of === held) return route.abort()
      const entries = [{ id: 1, action: `${of}.page`, subject: of, ...rest }]
      return route.fulfill({ json: { entries, nextCursor: nexts[of] } })
    })
    await page.goto(`${site.server.url}/#/control/audit`)
    const shown = (of: string) => page.getByText(`${of}.page`).waitFor()
    const [newer, older] = ['Newer', 'Older'].map((name) => page.getByRole('button', { name, exact: true }))
    await shown('first')
    await older?.click()
    await shown('second')
    held = 'first'
    await newer?.click()
    await page.getByRole('alert').waitFor()
    await shown('second')
    await older?.click()
    await shown('third')
    await newer?.click()
    await shown('second')

    const user = { username: 'ann', name: 'Ann', email: 'ann@example.com', synthetic: false, balance: null }
    const listed = { ...user, userId: 'u', createdAt: at, role: 'user' }
    await page.route(/\/api\/admin\/users\?/, (route) =>
      route.request().url().includes('offset=0')
        ? route.fulfill({ json: { users: [listed], total: 30 } })
        : route.abort(),
    )
    await page.goto(`${site.server.url}/#/control/users`)
    await page.getByText('1–25 of 30').waitFor()
    await older?.click()
    await page.getByRole('alert').waitFor()
    expect(await page.getByText('1–25 of 30').count()).toBe(1)
  })

  it('[S18] lists the keys that reach it, and revokes one for a reason', async () => {
    const { context, page } = await boss({ viewport: { width: 390, height: 844 } })
    const data = { name: 'night watch', scopes: ['admin:write'] }
    const headers = { origin: site.server.url }
    const made = await context.request.post(`${site.server.url}/api/keys`, { data, headers })
    const { secret } = z.object({ secret: z.string() }).parse(await made.json())
    const status = async () => {
      const bearer = { headers: { authorization: `Bearer ${secret}` } }
      return (await fetch(`${site.server.url}/api/admin/keys`, bearer)).status
    }
    expect(await status()).toBe(200)
    await page.goto(`${site.server.url}/#/control/keys`)
    await page.getByRole('rowheader', { name: 'night watch' }).waitFor()
    expect(await accessProblems(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    await site.shoot(page, 'keys-390')
    await page.getByRole('button', { name: 'Revoke' }).click()
    expect(await answer(page, 'Revoke', 'it was in a log')).toMatch(/refused at once.*\n.*\nIt cannot be undone/s)
    await page.getByText('No key reaches the control room.').waitFor()
    expect(await status()).toBe(401)
    await context.close()
  })

  it('[S23] an admin whose sign-in is old signs in from the message, and goes on', async () => {
    const { userId } = await holder('Old Fan')
    const { context, page } = await boss()
    await page.goto(`${site.server.url}/#/control/users/${userId}`)
    const freeze = page.getByRole('button', { name: 'Freeze' })
    await freeze.waitFor()
    site.server.jump(16 * 60)
    await freeze.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').fill('a reason')
    await dialog.getByRole('button', { name: 'Freeze' }).click()
    await dialog.getByRole('button', { name: 'Sign in again' }).click()
    await page.getByText('Signed in again').waitFor()
    await dialog.getByRole('button', { name: 'Freeze' }).click()
    await page.getByRole('button', { name: 'Unfreeze' }).waitFor()
    await context.close()
  })
})
