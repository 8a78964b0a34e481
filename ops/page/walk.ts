/**
 * Walks the page by keyboard and writes down what a screen reader is told: each stop of the way from the address to a
 * closed position, and what is announced by itself.
 *
 *   npm run ops -- page-walk
 *
 * It starts a demo of its own. Needs Chromium (`CHROMIUM` names another program). Ends with 1 if the order button is
 * more than 15 stops from the top, a stop has no name, or the focus is lost.
 */
import type { CDPSession, Page } from 'playwright-core'
import { z } from 'zod'
import { openDemo } from './demo.ts'

/** From the top of the trade view to the order button. */
const STOPS_MAX = 15
const STEPS_MAX = 80
const PATIENCE_MS = 240_000

const Tree = z.object({
  nodes: z.array(
    z.object({
      role: z.object({ value: z.string() }).optional(),
      name: z.object({ value: z.string() }).optional(),
      value: z.object({ value: z.union([z.string(), z.number()]).optional() }).optional(),
      properties: z
        .array(z.object({ name: z.string(), value: z.object({ value: z.unknown().optional() }) }))
        .optional(),
    }),
  ),
})
/** What readers say of an element besides its role, name and value. */
const STATES: ReadonlySet<string> = new Set(['checked', 'pressed', 'expanded', 'required', 'disabled', 'invalid'])

const demo = await openDemo({ RATE_LIMIT_PER_MIN: '0', DEMO_SPEED: '1' })
let isFlawed = false
try {
  const context = await demo.browser.newContext({ viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const session = await context.newCDPSession(page)
  await page.goto(demo.url)
  await page.getByRole('button', { name: 'Kick off' }).waitFor()
  const announced = await listen(page)

  heading('The door')
  await page.keyboard.type('Wanda') // the field has the focus
  console.log(`   ${await focused(session)}`)
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: /^Account of/ }).waitFor()

  heading('From the top of the trade view to the order')
  await page.goto(`${demo.url}/#/trade`)
  await page.locator('.ticket').waitFor()
  await page.evaluate('document.activeElement?.blur()')
  const first = await walk(page, session, /^Skip to the order$/)
  await page.keyboard.press('Enter')
  console.log(`     Enter: ${await focused(session)}`)
  const stops = first + (await walk(page, session, /^Go long/))
  console.log(`   ${stops} stops`)
  if (stops > STOPS_MAX) isFlawed = true

  heading('The order')
  await page
    .getByRole('button', { name: /^Go long/ })
    .and(page.locator(':enabled'))
    .waitFor({ timeout: PATIENCE_MS })
  await page.keyboard.press('Enter')
  await page.locator('.held > li').first().waitFor()
  keepsFocus(await focused(session))

  heading('From there to closing the position')
  await page.locator('.held .close:enabled').waitFor({ timeout: PATIENCE_MS })
  await page.evaluate('document.querySelector("#positions-title").closest("section").querySelector("button").focus()')
  await walk(page, session, /^Close$/)
  await page.keyboard.press('Enter')
  await page.locator('.held > li').first().waitFor({ state: 'detached' })
  keepsFocus(await focused(session))

  heading('Announced by itself')
  for (const words of await announced()) console.log(`   ${words}`)
  if (isFlawed) process.exitCode = 1
} finally {
  await demo.close()
}

function heading(words: string): void {
  console.log(`\n${words}`)
}

/** After an action the focus is on something that has a name, not lost. */
function keepsFocus(told: string): void {
  console.log(`     then: ${told}`)
  if (told.includes('“”')) isFlawed = true
}

/** Presses Tab until the focused element has such a name. Prints every stop, and counts them. */
async function walk(page: Page, session: CDPSession, until: RegExp): Promise<number> {
  for (let stop = 1; stop <= STEPS_MAX; stop++) {
    await page.keyboard.press('Tab')
    const told = await focused(session)
    console.log(`${String(stop).padStart(4)} ${told}`)
    const name = /“(.*?)”/.exec(told)?.[1] ?? ''
    if (name === '') {
      console.log('     has no name')
      isFlawed = true
    }
    if (until.test(name)) return stop
  }
  throw new Error(`no element named ${String(until)} within ${STEPS_MAX} stops`)
}

/** Role, name, value and state of the focused element, as the browser gives them to a screen reader. */
async function focused(session: CDPSession): Promise<string> {
  const { result } = await session.send('Runtime.evaluate', { expression: 'document.activeElement' })
  const tree = Tree.parse(
    await session.send('Accessibility.getPartialAXTree', { objectId: result.objectId ?? '', fetchRelatives: false }),
  )
  const [node] = tree.nodes
  const value = node?.value?.value
  const states = (node?.properties ?? []).flatMap(({ name, value: { value: of } }) =>
    STATES.has(name) && (of === true || of === 'true') ? [name] : [],
  )
  return [
    node?.role?.value ?? 'nothing',
    `“${(node?.name?.value ?? '').replaceAll(/\s+/g, ' ').trim()}”`,
    ...(value === undefined || value === '' ? [] : [`${value}`]),
    ...states,
  ].join(', ')
}

/** Writes down what changes in live regions. */
async function listen(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.evaluate(`
    window.announced = []
    new MutationObserver((changes) => {
      for (const { target } of changes) {
        const element = target instanceof Element ? target : target.parentElement
        const region = element?.closest('[aria-live=polite], [role=status], [role=alert]')
        const words = region?.innerText?.replace(/\\s+/g, ' ').trim()
        if (words && window.announced.at(-1) !== words) window.announced.push(words)
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true })`)
  return async () => [...new Set(z.array(z.string()).parse(await page.evaluate('window.announced')))]
}
