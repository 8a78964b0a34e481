/** The quickstart of the API page, followed word for word, and what its reader meets next. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { launch } from '../../ops/page/browser.ts'
import { accessProblems, complaintsOf, hasBrowser } from '../support/browser.ts'
import { ComposedServer } from '../support/composed-server.ts'
import { embeddedPlace } from '../support/data-place.ts'
import { personalKey } from '../support/personal-key.ts'
import { hasTool } from '../support/tool.ts'

const BUSY_MACHINE_MS = 120_000
const OPS = join(import.meta.dirname, '../../ops')
const run = promisify(execFile)

let server: ComposedServer
beforeAll(async () => {
  server = await ComposedServer.open(await embeddedPlace())
}, BUSY_MACHINE_MS)
afterAll(() => server.close())

describe.skipIf(!hasTool('python3') || !hasTool('curl'))('a reader of the quickstart', () => {
  it('has a key, prices and trades in JavaScript and Python within five minutes', async () => {
    const { stdout } = await run(process.execPath, [join(OPS, 'main.ts'), 'quickstart', server.url])
    const lines = stdout.trim().split('\n')
    expect(lines).toEqual([
      expect.stringMatching(/^key\.sh: tl_/),
      expect.stringMatching(/^price\.mjs: \S.* \d+(\.\d+)? \(/),
      expect.stringMatching(/^price\.py: \S.* \d+(\.\d+)? \(/),
      expect.stringMatching(/^trade\.mjs: long \S.* at \d+(\.\d+)?, 9\d+(\.\d+)? units left \(/),
      expect.stringMatching(/^trade\.py: long \S.* at \d+(\.\d+)?, 9\d+(\.\d+)? units left \(/),
      expect.stringMatching(/^A key, two first prices and two first trades in \d+\.\d s\.$/),
    ])
    // Both programs traded for the one account whose key the page told them to make.
    const reader = await server.user('First Bot')
    expect(await reader.positions()).toHaveLength(2)
  })

  it('fails where a program does', { timeout: BUSY_MACHINE_MS }, async () => {
    const wrong = run(process.execPath, [join(OPS, 'main.ts'), 'quickstart', `${server.url}/nowhere`])
    await expect(wrong).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('shows no programs') })
  })

  it('runs the example bot in Python', { timeout: BUSY_MACHINE_MS }, async () => {
    const TOUCHLINE_KEY = await personalKey(server.url, 'Python Bot', ['trade'])
    const env = { ...process.env, TOUCHLINE_KEY }
    const bot = run('python3', [join(OPS, 'examples/bot.py'), server.url, '1'], { env })
    const clock = setInterval(() => server.jump(20), 500)
    onTestFinished(() => clearInterval(clock))
    // On a slow machine the match goes on between the list and the order.
    expect((await bot).stdout).toMatch(/^(long .+ at \d+(\.\d+)?|.+: (market (suspended|closed)|PRICE_MOVED))\n$/)
  })
})

describe.skipIf(!hasBrowser)('the API page in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser.close())

  it('searches without emptying a table, and tries requests out', { timeout: BUSY_MACHINE_MS }, async () => {
    const page = await browser.newPage()
    const complaints = complaintsOf(page, [server.url])
    await page.goto(`${server.url}/api/docs`)
    const find = page.locator('#find')
    await find.fill('PRICE_MOVED')
    expect(await page.locator('#found').textContent()).toMatch(/^\d+ places match “PRICE_MOVED”\.$/)
    expect(await page.locator('#errors tbody tr:visible').count()).toBe(1)
    expect(await page.locator('#frame').isVisible()).toBe(false)
    // What an article shows belongs together, and a section with a match says what else it lacks.
    await find.fill('heartbeat')
    expect(await page.locator('#message-heartbeat').isVisible()).toBe(true)
    expect(await page.locator('#socket p:visible').allTextContents()).toContain('No row matches “heartbeat”.')
    await find.fill('Change stop-loss and take-profit')
    expect(await page.locator('#patch-positions-id tbody tr:visible').count()).toBeGreaterThan(0)
    await find.fill('The `since` of no page xyzzy')
    expect(await page.locator('#found').textContent()).toMatch(/^Nothing matches/)
    expect(await page.locator('table:visible').count()).toBe(0)
    await find.fill('')
    expect(await page.locator('#found').isVisible()).toBe(false)
    const empty = page.locator('table:visible').filter({ hasNot: page.locator('tbody tr:visible') })
    expect(await empty.count()).toBe(0)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy curl key.sh' }).click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain(server.url)
    // The programs name the server that the reader is on.
    expect(await page.locator('[data-file="key.sh"]').textContent()).toContain(server.url)

    const wallet = page.locator('#get-wallet details.try')
    const send = async () => {
      await wallet.getByRole('button').click()
      await expect.poll(() => wallet.getByRole('status').textContent()).toMatch(/^\d{3} /)
      return wallet.getByRole('status').textContent()
    }
    await wallet.locator('summary').click()
    // All articles are of one make, and axe needs twenty seconds for all of them.
    await find.fill('balance')
    expect(await wallet.isVisible()).toBe(true)
    expect(await accessProblems(page)).toEqual([])
    await find.fill('')
    expect(complaints).toEqual([])
    expect(await send()).toBe('401 Unauthorized')
    await wallet.getByLabel('Key').fill(await personalKey(server.url, 'Tries Out', ['read']))
    expect(await send()).toBe('200 OK')
    expect(JSON.parse((await wallet.locator('pre').textContent()) ?? '')).toMatchObject({ balance: 10_000 })
    await wallet.getByLabel('Address').fill('https://elsewhere.example/')
    await wallet.getByRole('button').click()
    await expect.poll(() => wallet.getByRole('status').textContent()).toContain('only requests to this server')

    const opening = page.locator('#post-positions-open details.try')
    await opening.locator('summary').click()
    await opening.getByRole('button').click()
    await expect.poll(() => opening.getByRole('status').textContent()).toBe('403 Forbidden')
    expect(await opening.locator('pre').textContent()).toContain('SCOPE_MISSING')
    await page.close()
  })
})
