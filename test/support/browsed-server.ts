/** A server and a browser for a suite. */
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { launch } from '../../ops/page/browser.ts'
import { complaintsOf } from './browser.ts'
import { ComposedServer } from './composed-server.ts'
import { embeddedPlace } from './data-place.ts'

const PATIENCE_MS = 20_000
/** Longer than a position must be held. */
const HOLD_SECS = 181
/** News suspends trading for fewer steps of the match than this. */
const STEPS_MAX = 150
const STEP_SECS = 2
/** A refused close leaves the button for the next press. */
const ANSWER_MS = 3_000
const PRESSES_MAX = 20
/** Where to keep screenshots, for people to look at. */
const SHOTS = process.env['TEST_SCREENSHOTS']

/** Opens both before the tests of the suite, and closes the pages of each test after it. `admin` is an admin's name. */
export function browsedServer(admin?: string) {
  let opened: { readonly server: ComposedServer; readonly browser: Browser } | undefined
  const both = () => present(opened, 'server, which is open while hooks and tests run')
  beforeAll(async () => {
    const place = await embeddedPlace()
    const env = admin === undefined ? place.env : { ...place.env, ADMIN_EMAILS: `${admin}@synthetic.invalid` }
    opened = { server: await ComposedServer.open({ ...place, env }), browser: await launch() }
  })
  afterEach(() =>
    Promise.all(
      both()
        .browser.contexts()
        .map((context) => context.close()),
    ),
  )
  afterAll(async () => {
    await opened?.browser.close()
    await opened?.server.close()
  })

  /** Plays on until no player is suspended. Then nothing happens until the test moves the clock. */
  async function playUntilOpen(): Promise<void> {
    const { server } = both()
    const scout = await server.user('Scout')
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      const players = await scout.instruments()
      if (players.length > 0 && players.every(({ tradingStatus }) => tradingStatus === 'OPEN')) return
      await server.play(STEP_SECS)
    }
    throw new Error(`trading is suspended after ${STEPS_MAX * STEP_SECS} seconds of the match`)
  }

  return {
    get server(): ComposedServer {
      return both().server
    },
    playUntilOpen,
    get browser(): Browser {
      return both().browser
    },
    /** A page of a new browser, at this path of the server, and what it complains of. */
    async visit(options: BrowserContextOptions = {}, path = '/') {
      const { server, browser } = both()
      const context = await browser.newContext(options)
      const page = await context.newPage()
      page.setDefaultTimeout(PATIENCE_MS)
      const complaints = complaintsOf(page, [new URL(server.url).origin])
      await page.goto(`${server.url}${path}`)
      return { context, page, complaints }
    },
    /** Signs in through the page. */
    async enter(page: Page, name: string): Promise<void> {
      await page.getByLabel('Your name').fill(name)
      await page.getByRole('button', { name: 'Kick off' }).click()
    },
    /** The button of an order, once it is enabled. The match goes on meanwhile only if news has suspended a player. */
    async tradable(page: Page, name = /^Go long/): Promise<Locator> {
      const send = page.getByRole('button', { name }).and(page.locator(':enabled'))
      if ((await send.count()) === 0) {
        await playUntilOpen()
        await send.waitFor().catch(async (cause: unknown) => {
          throw new Error(`it cannot be ordered: ${await page.locator('body').innerText()}`, { cause })
        })
      }
      return send
    },
    /** Closes the only position once its hold is over. */
    async closes(page: Page, press: (what: Locator) => Promise<void> = (what) => what.click()): Promise<void> {
      both().server.jump(HOLD_SECS)
      await page.reload()
      const close = page.locator('.held').getByRole('button', { name: 'Close', exact: true })
      await close.waitFor()
      const none = page.getByRole('button', { name: 'Open 0', exact: true })
      const isClosed = () =>
        none.waitFor({ timeout: ANSWER_MS }).then(
          () => true,
          () => false,
        )
      for (let presses = 0; presses < PRESSES_MAX; presses++) {
        await playUntilOpen()
        // The button may go between a look and a press, as the position closes.
        await press(close.or(none).first())
        if (await isClosed()) return
      }
      throw new Error(`it cannot be closed: ${await page.locator('body').innerText()}`)
    },
    async shoot(page: Page, name: string, fullPage = true): Promise<void> {
      if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage })
    },
  }
}
