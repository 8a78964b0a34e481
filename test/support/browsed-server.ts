/** A server and a browser for a suite. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { complaintsOf, launch } from './browser.ts'
import { ComposedServer } from './composed-server.ts'
import { embeddedPlace } from './data-place.ts'

const PATIENCE_MS = 20_000
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

  return {
    get server(): ComposedServer {
      return both().server
    },
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
    async shoot(page: Page, name: string, fullPage = true): Promise<void> {
      if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage })
    },
  }
}
