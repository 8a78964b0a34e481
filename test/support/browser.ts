/** Starts a browser for tests, if one is installed: Debian's Chromium, or the program that CHROMIUM names. */
import { existsSync, readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'

const EXECUTABLE = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** True if a browser is installed, and always in CI, where a missing browser fails the tests. */
export const hasBrowser = existsSync(EXECUTABLE) || process.env['CI'] === 'true'

export const launch = (): Promise<Browser> => chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS })

/** The errors and warnings of a page, and its requests to servers other than `origins`. */
export function complaintsOf(page: Page, origins: readonly string[]): readonly string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error.stack)))
  page.on('console', (message) => {
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
  const { violations } = await page.evaluate<AxeResults>('axe.run()')
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
