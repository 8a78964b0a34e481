/** The page in a full stadium: a slow network, none at all, a small screen. */
import type { BrowserContext, Page, BrowserContextOptions } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { accessProblems, hasBrowser, holdUntil } from '../support/browser.ts'
import { browsedServer } from '../support/browsed-server.ts'
import { orderOf } from '../support/orders.ts'

const REQUESTS_MAX = 20
const BYTES_MAX = 200_000
/** Cumulative layout shift: what Chromium calls good is twice that. */
const SHIFT_MAX = 0.05
/** Of a browser, as the Push API gives them. */
const KEYS = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
}

describe.skipIf(!hasBrowser)('in a stadium', () => {
  const site = browsedServer()

  const open = async (options: BrowserContextOptions = {}) => {
    const context = await site.browser.newContext(options)
    const page = await context.newPage()
    page.setDefaultTimeout(15_000)
    return { context, page }
  }
  const signIn = async (page: Page, name: string): Promise<void> => {
    await page.goto(site.server.url)
    await site.enter(page, name)
    await page.getByRole('link', { name: /^Account of/ }).waitFor()
  }
  /** The worker controls the page from its second visit on. */
  const isKept = (page: Page) => page.evaluate('navigator.serviceWorker.ready.then(() => true)')

  it('a first visit until the door asks for few files, which weigh little', async () => {
    const { context, page } = await open()
    const wire = await measure(context, page)
    await page.goto(site.server.url)
    await page.getByRole('button', { name: 'Kick off' }).waitFor()
    await isKept(page)
    await page.waitForLoadState('networkidle')
    expect(wire.requests.length).toBeGreaterThan(5)
    expect(wire.requests.length, wire.requests.join('\n')).toBeLessThanOrEqual(REQUESTS_MAX)
    expect(wire.bytes()).toBeGreaterThan(50_000)
    expect(wire.bytes()).toBeLessThan(BYTES_MAX)
  })

  it('goes on when a part of the page could not be loaded at first', async () => {
    const { context, page } = await open()
    let isCut = true
    await context.route('**/web/game-*.js', (route) => (isCut ? route.abort() : route.continue()))
    await page.goto(site.server.url)
    await site.enter(page, 'Gus Gap')
    await page.locator('.loading').waitFor()
    isCut = false
    await page.getByRole('link', { name: 'Account of Gus Gap' }).waitFor()
  })

  it('opens without a network, says so, and goes on when it is back', async () => {
    const { context, page } = await open()
    await signIn(page, 'Tess Tunnel')
    await isKept(page)
    await context.setOffline(true)
    await page.reload()
    await page.getByText('You are offline.').waitFor()
    await context.setOffline(false)
    await page.getByRole('link', { name: 'Account of Tess Tunnel' }).waitFor()
  })

  it('shows the kept page where a proxy answers with an error, and a new one as soon as there is one', async () => {
    const { context, page } = await open()
    await signIn(page, 'Pia Proxy')
    await isKept(page)
    let failed = 0
    await context.route(`${site.server.url}/`, (route) => {
      failed++
      return route.fulfill({ status: 502, body: 'Bad gateway' })
    })
    await page.reload()
    await page.getByRole('link', { name: 'Account of Pia Proxy' }).waitFor()
    expect(failed).toBeGreaterThan(0)
    await context.unroute(`${site.server.url}/`)
    await page.reload()
    await page.getByRole('link', { name: 'Account of Pia Proxy' }).waitFor()
  })

  it('a visitor watches a match without signing in, and sees it live once they have', async () => {
    const { context, page } = await open({ viewport: { width: 390, height: 844 } })
    // The server keeps how matches stand every five seconds of its own; it shows what is as old as its delay.
    await expect
      .poll(
        async () => {
          site.server.jump(30)
          const answer = await context.request.get(`${site.server.url}/api/public/matches`)
          const { matches } = (await answer.json()) as { matches: { id: number }[] }
          return matches.some(({ id }) => id === site.server.matchId)
        },
        { timeout: 40_000, interval: 2_500 },
      )
      .toBe(true)
    await page.goto(`${site.server.url}/watch/${site.server.matchId}`)
    const watch = page.getByRole('region', { name: 'On now' })
    await watch.getByText('45 s behind').waitFor()
    expect(await watch.locator('.shirt').count()).toBe(22)
    expect(await accessProblems(page)).toEqual([])
    const elsewhere = await context.newPage()
    await elsewhere.goto(`${site.server.url}/watch/999999`)
    await elsewhere.getByText('Not found. It may no longer exist.').waitFor()
    await site.enter(page, 'Wim Watches')
    await page.locator('button.shirt').first().waitFor()
    expect(page.url()).toBe(`${site.server.url}/#/match/${site.server.matchId}`)
  })

  it('an invitation names who invites, and is kept when signing in by name', async () => {
    const host = await site.server.user('Ivy Invites')
    const { code } = (await host.request('GET', '/api/referrals')).body as { code: string }
    const { page } = await open()
    await page.goto(`${site.server.url}/join?ref=${code}`)
    await page.getByText('invites you to play').waitFor()
    await site.enter(page, 'Jo Joins')
    await page.getByRole('link', { name: /^Account of/ }).waitFor()
    const { summary } = (await host.request('GET', '/api/referrals')).body as { summary: { pending: number } }
    expect(summary.pending).toBe(1)
  })

  it('the inbox shows earlier pages, and a board says how much of it is shown', async () => {
    const { page } = await open()
    const notice = (n: number) => ({ id: `${n}`, type: 'none', title: `Notice ${n}`, body: '', data: {}, read: true })
    await page.route('**/api/notifications?*', (route) => {
      const isFirst = !new URL(route.request().url()).searchParams.has('cursor')
      const notifications = (isFirst ? [4, 3] : [2, 1]).map((n) => ({ ...notice(n), createdAt: new Date(n) }))
      return route.fulfill({ json: { notifications, unreadCount: 0, nextCursor: isFirst ? 'more' : null } })
    })
    await page.route('**/api/leaderboard/roi/global?*', (route) => {
      const entries = Array.from({ length: 12 }, (_, n) => ({
        rank: n + 1,
        userId: `user ${n}`,
        username: `user_${n}`,
        roiPct: 1,
        pnl: 1,
        winRate: 1,
        bot: false,
        isMe: false,
      }))
      return route.fulfill({ json: { entries, total: 300, nextCursor: null } })
    })
    await signIn(page, 'Pam Pages')
    await page.goto(`${site.server.url}/#/inbox`)
    const earlier = page.getByRole('button', { name: 'Earlier notifications' })
    await earlier.click()
    await page.getByText('Notice 1').waitFor()
    expect(await page.locator('.notices b').allTextContents()).toEqual([4, 3, 2, 1].map((n) => `Notice ${n}`))
    expect(await earlier.count()).toBe(0)
    await page.goto(`${site.server.url}/#/league`)
    const most = page.getByRole('button', { name: 'Show 12' })
    const part = page.getByText('The first 12 of 300.')
    await most.waitFor()
    expect(await part.count()).toBe(0)
    await most.click()
    await page.getByText('user_11').waitFor()
    await part.waitFor()
  })

  it('a device chooses what it is told, and is told nothing more once its user has signed out', async () => {
    const { context, page } = await open()
    await context.grantPermissions(['notifications'])
    // This browser reaches no push service.
    await page.addInitScript(`
      const endpoint = 'https://push.example/this-device'
      const keys = ${JSON.stringify(KEYS)}
      let own = null
      PushManager.prototype.subscribe = async () => (own = {
        endpoint, toJSON: () => ({ endpoint, expirationTime: null, keys }), unsubscribe: async () => { own = null; return true },
      })
      PushManager.prototype.getSubscription = async () => own
    `)
    await signIn(page, 'Pam Push')
    await isKept(page)
    // What cannot be read at first is asked for again.
    let asked = 0
    await context.route('**/api/push', (route) => (asked++ === 0 ? route.abort() : route.continue()))
    await page.goto(`${site.server.url}/#/account`)
    const card = page.getByRole('region', { name: 'Messages on this device' })
    const turn = async (kind: string, isOn: boolean): Promise<void> => {
      await card.getByLabel(kind).click()
      await card.getByRole('checkbox', { name: kind, checked: isOn }).and(page.locator(':enabled')).waitFor()
    }
    await turn('Full time settles your positions', true)
    await turn('A position is washed out', true)
    const fan = await site.server.user('Pam Push')
    const told = async () =>
      ((await fan.request('GET', '/api/push')).body as { subscriptions: { kinds: string[] }[] }).subscriptions
    await expect.poll(told).toMatchObject([{ kinds: ['washout', 'settlement'] }])
    await turn('Full time settles your positions', false)
    await expect.poll(told).toMatchObject([{ kinds: ['washout'] }])
    expect(await accessProblems(page)).toEqual([])
    // Answered with a failure, it has cleared the cookies all the same: the page asks what is true.
    await page.route('**/api/auth/logout', async (route) => {
      await route.fulfill({ response: await route.fetch(), status: 503 })
    })
    await page.locator('main').getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Kick off' }).waitFor()
    const again = await site.server.user('Pam Push')
    const { body } = await again.request('GET', '/api/push')
    expect(body).toMatchObject({ subscriptions: [] })
  })

  it('a sign-out that is lost leaves the user signed in, though the access cookie has run out', async () => {
    const { context, page } = await open()
    await signIn(page, 'Lola Lost')
    await page.goto(`${site.server.url}/#/account`)
    const signOut = page.locator('main').getByRole('button', { name: 'Sign out' })
    await signOut.waitFor()
    await page.route('**/api/auth/logout', (route) => route.abort())
    await context.clearCookies({ name: /access/ })
    await signOut.click()
    await page.locator('.toast').getByText('You are still signed in').waitFor()
    expect(await signOut.count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Kick off' }).count()).toBe(0)
  })

  it('a large order is read before it is sent, and afterwards the next one is small again', async () => {
    const { page } = await open({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
    await signIn(page, 'Lars Large')
    await page.goto(`${site.server.url}/#/trade`)
    await page.getByText('1 of 4').waitFor()
    await page.goto(`${site.server.url}/#/match`)
    await page.locator('button.shirt').nth(5).tap()
    await page.getByText('2 of 4').waitFor()
    await page.getByLabel('Stake in units').fill('6000')
    const send = page.locator('.send:enabled')
    await send.getByText(/units/).waitFor()
    await holdUntil(page, send, () => page.locator('.review:focus').waitFor())
    const box = async (selector: string) => {
      const found = await page.locator(selector).boundingBox()
      if (found === null) throw new Error(`${selector} is not drawn`)
      return found
    }
    const [review, button] = [await box('.review'), await box('.send')]
    expect(review.y).toBeGreaterThan(56)
    expect(review.y + review.height).toBeLessThanOrEqual(button.y)
    await send.getByText('Yes, hold to go long').waitFor()
    const views = page.getByRole('navigation', { name: 'Views' })
    await holdUntil(page, send, () => views.getByRole('button', { name: /Positions\s*1$/ }).waitFor())
    expect(await page.getByLabel('Stake in units').inputValue()).toBe('50')
    await page.getByRole('link', { name: /^Long / }).tap()
    await page.locator('.held > li').waitFor()
  })
})

describe.skipIf(!hasBrowser)('while a match runs thirty times as fast', () => {
  // A server of its own: at the end of its match the page turns into the result.
  const site = browsedServer()

  it.each([
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ])('nothing jumps on $width px', async (viewport) => {
    const { page } = await site.visit({ viewport })
    await site.enter(page, `Ivy ${viewport.width}`)
    await page.getByRole('link', { name: /^Account of/ }).waitFor()
    await page.evaluate(`
      window.shifts = []
      new PerformanceObserver((list) => {
        for (const { hadRecentInput, value, sources } of list.getEntries())
          if (!hadRecentInput) shifts.push({ value, of: sources.map(({ node, previousRect, currentRect }) =>
            [node?.className ?? node?.nodeName, previousRect.y, currentRect.y]) })
      }).observe({ type: 'layout-shift' })`)
    for (const view of ['trade', 'match']) {
      await page.goto(`${site.server.url}/#/${view}`)
      await page
        .locator(view === 'trade' ? '.chart canvas' : '.grass .shirt')
        .first()
        .waitFor()
      await page.waitForLoadState('networkidle')
      await page.evaluate('shifts.length = 0')
      for (let n = 0; n < 3; n++) await site.server.play(30)
      const shifts = z.array(z.object({ value: z.number(), of: z.unknown() })).parse(await page.evaluate('shifts'))
      const sum = shifts.reduce((all, { value }) => all + value, 0)
      expect(sum, `${view}: ${JSON.stringify(shifts)}`).toBeLessThanOrEqual(SHIFT_MAX)
    }
  })

  it('what is typed into a level stays while prices move', async () => {
    const { page } = await site.visit({ viewport: { width: 1440, height: 900 } })
    await site.enter(page, 'Ivy Types')
    await (await site.tradable(page)).click()
    const held = page.locator('.held > li')
    await held.waitFor()
    await page.getByRole('checkbox', { name: 'Stop-loss' }).check()
    for (const field of [held.getByLabel(/^Stop-loss/), page.locator('.ticket').getByLabel(/^Stop-loss price/)]) {
      await field.fill('12.3')
      const pnl = await held.locator('.pnl').innerText()
      await expect
        .poll(async () => {
          await site.server.play(2)
          return held.locator('.pnl').innerText()
        })
        .not.toBe(pnl)
      expect(await field.inputValue()).toBe('12.3')
    }
  })

  it.each([
    ['trade', '.players', '.player .who b'],
    ['match', '.movers ol', '.movers:has(#movers-title) .link'],
  ])(
    'on the page %s the rows of a list stay where they are under a mouse, and move without one',
    async (...[view, list, names]) => {
      const { page } = await site.visit({ viewport: { width: 1440, height: 900 } })
      await site.enter(page, `Ivy ${view}`)
      await page.getByRole('link', { name: /^Account of/ }).waitFor()
      await page.goto(`${site.server.url}/#/${view}`)
      // No player has moved when a match begins.
      const shows = async () => {
        await site.server.play(5)
        return page.locator(names).count()
      }
      await expect.poll(shows).toBeGreaterThan(1)
      if (view === 'trade') await page.getByLabel('Sort by').selectOption('change')
      const shown = () => page.locator(names).allTextContents()
      const play = async () => {
        await site.server.play(5)
        return shown()
      }
      await page.locator(list).first().hover()
      const before = await shown()
      // A substitution takes players from the list.
      for (let n = 0; n < 8; n++) {
        const now = await play()
        expect(now.filter((name) => before.includes(name))).toEqual(before.filter((name) => now.includes(name)))
      }
      await page.mouse.move(700, 5)
      await expect.poll(play, { timeout: 20_000 }).not.toEqual(before)
    },
  )

  it('a small screen shows one message at a time', async () => {
    const { page } = await site.visit({ viewport: { width: 320, height: 640 } }, '/#/positions')
    await site.enter(page, 'Ivy Small')
    await page.getByRole('link', { name: /^Account of/ }).waitFor()
    await page.goto(`${site.server.url}/#/positions`)
    const ivy = await site.server.user('Ivy Small')
    for (let n = 0; n < 2; n++) await ivy.opens(await orderOf(ivy))
    await page.locator('.toast').nth(1).waitFor({ state: 'attached' })
    expect(await page.locator('.toast:visible').count()).toBe(1)
  })
})

/** Counts what goes over the wire, also what the service worker asks for. */
async function measure(context: BrowserContext, page: Page) {
  const requests: string[] = []
  let bytes = 0
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  session.on('Network.requestWillBeSent', ({ request }) => requests.push(request.url))
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  return { requests, bytes: () => bytes }
}
