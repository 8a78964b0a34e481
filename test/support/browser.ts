/** What tests ask of a browser. */
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { present } from '../../actors/kernel/assert.ts'
import { isInstalled } from '../../ops/page/browser.ts'

/** True if a browser is installed, and always in CI, where a missing browser fails the tests. */
export const hasBrowser = isInstalled || process.env['CI'] === 'true'

/** The errors and warnings of a page, and its requests to servers other than `origins`. */
export function complaintsOf(page: Page, origins: readonly string[]): readonly string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error.stack)))
  page.on('console', (message) => {
    // The tests of broken networks give this machine other interfaces meanwhile, and Chromium breaks off requests.
    if (message.text().includes('ERR_NETWORK_CHANGED')) return
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol !== 'data:' && !origins.includes(origin)) complaints.push(`asked for ${request.url()}`)
  })
  return complaints
}

/** Answers the question before an operator's act, by the button of this label. Returns what it said. */
export async function answer(page: Page, label: string, why?: string): Promise<string> {
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/^By \w+, now/).waitFor()
  await dialog.getByText('Counting what it concerns…').waitFor({ state: 'detached' })
  if (why !== undefined) await dialog.getByRole('textbox').fill(why)
  const button = dialog.getByRole('button', { name: label, exact: true })
  if (label !== 'Cancel') await button.and(page.locator(':enabled')).waitFor()
  const said = await dialog.innerText()
  await button.click()
  await dialog.waitFor({ state: 'detached' })
  return said
}

const AXE = join(dirname(findPackageJSON('axe-core', import.meta.url) ?? ''), 'axe.min.js')

/** The accessibility problems that axe finds, each as rule and place. */
export async function accessProblems(page: Page): Promise<readonly string[]> {
  await page.evaluate(readFileSync(AXE, 'utf8'))
  // What still fades in has less contrast.
  await page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))')
  const { violations } = await page.evaluate<AxeResults>("axe.run({ resultTypes: ['violations'] })")
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary}`),
  )
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[]
  }[]
}

/** Controls of the page that lie on each other, as what they say. What stays in place while it scrolls is left out. */
export const overlaps = (page: Page): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>(`(() => {
    const stays = (node) => {
      for (let at = node; at !== null; at = at.parentElement) {
        if (['fixed', 'sticky'].includes(getComputedStyle(at).position)) return true
      }
      return false
    }
    const found = [...document.querySelectorAll('button, input, select, a, summary')]
      .map((node) => ({ node, box: node.getBoundingClientRect() }))
      .filter(({ node, box }) => box.width > 1 && box.height > 1 && node.checkVisibility() && !stays(node))
      // What is broken into lines has no box of its own.
      .filter(({ node }) => getComputedStyle(node).display !== 'inline')
    const says = ({ node }) => node.innerText || node.getAttribute('aria-label') || node.id || node.className
    return found.flatMap((one, n) =>
      found.slice(n + 1).flatMap((other) => {
        if (one.node.contains(other.node) || other.node.contains(one.node)) return []
        const wide = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left)
        const high = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top)
        return wide > 2 && high > 2 ? [says(one) + ' / ' + says(other)] : []
      }),
    )
  })()`)

/** Holds a finger on something until this has happened. */
export async function holdUntil(page: Page, what: Locator, happened: () => Promise<unknown>): Promise<void> {
  const box = present((await what.boundingBox()) ?? undefined, 'box')
  const finger = await page.context().newCDPSession(page)
  const touchPoints = [{ x: box.x + box.width / 2, y: box.y + box.height / 2 }]
  await finger.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints })
  await happened()
  await finger.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  await finger.detach()
}
