/** The operator of a drill: the control room in a browser, on a phone, with every click counted. */
import type { Locator, Page } from 'playwright-core'
import { launch } from '../../page/browser.ts'
import type { Stage } from './stage.ts'

/** The most clicks that an incident may take; a text field that is filled counts as one. */
export const CLICKS_MAX = 12
const PATIENCE_MS = 60_000
const PHONE = { width: 390, height: 844 }

export class Operator {
  clicks = 0
  readonly page: Page
  readonly #url: string
  readonly #say: (line: string) => void

  private constructor(page: Page, url: string, say: (line: string) => void) {
    this.page = page
    this.#url = url
    this.#say = say
  }

  /** An operator who is signed in and asleep. */
  static async of(stage: Stage, say: (line: string) => void): Promise<Operator> {
    const { cookies } = await stage.admin('otto')
    const browser = await launch()
    stage.later(() => browser.close())
    const context = await browser.newContext({ viewport: PHONE })
    await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: stage.url })))
    const page = await context.newPage()
    page.setDefaultTimeout(PATIENCE_MS)
    return new Operator(page, stage.url, say)
  }

  /** Wakes up, and opens the control room. */
  async opens(): Promise<void> {
    await this.page.goto(`${this.#url}/#/control`)
  }

  /** Waits until the sentence on top is so. */
  async sees(sentence: RegExp, withinMs = PATIENCE_MS): Promise<void> {
    const state = this.page.getByLabel('State').filter({ hasText: sentence })
    await state.waitFor({ timeout: withinMs }).catch(async (error: unknown) => {
      const shown = await this.page.getByLabel('State').allInnerTexts()
      throw new Error(`the sentence is ${JSON.stringify(shown)}, not ${String(sentence)}`, { cause: error })
    })
    this.#say(`  sees    ${(await state.locator('b').innerText()).trim()}`)
  }

  /** Opens the page of the runbook that the sentence leads to, and finds these words on it. */
  async looksUp(section: string, ...words: readonly string[]): Promise<void> {
    await this.press(this.page.getByLabel('State').getByRole('link', { name: 'What to do' }))
    await this.reads(section, ...words)
  }

  /** The shown section of the runbook has these words. */
  async reads(section: string, ...words: readonly string[]): Promise<void> {
    const shown = this.page.getByRole('article', { name: section, exact: true })
    await shown.waitFor()
    const text = (await shown.innerText()).replaceAll(/\s+/g, ' ')
    for (const each of words) {
      if (!text.includes(each)) throw new Error(`the runbook's ${section} does not say “${each}”: ${text}`)
      this.#say(`  reads   ${each}`)
    }
  }

  /** Clicks something. The page may not be wider than the phone. */
  async press(what: Locator): Promise<void> {
    await what.click()
    this.clicks++
    const beyond = Number(await this.page.evaluate('document.documentElement.scrollWidth - innerWidth'))
    if (beyond > 0) throw new Error(`the page is ${beyond} px wider than the phone at ${this.page.url()}`)
    this.#say(`  click ${this.clicks} ${String(what).replace(/^locator/, '')}`)
  }

  /** Goes to a section of the control room. */
  goesTo(section: string): Promise<void> {
    return this.press(
      this.page.getByRole('navigation', { name: 'Control room' }).getByRole('link', { name: section, exact: true }),
    )
  }

  /** Answers the question before an act by the button of this label. */
  async answers(label: string, why: string): Promise<void> {
    const dialog = this.page.getByRole('dialog')
    await dialog.getByText('Counting what it concerns…').waitFor({ state: 'detached' })
    await dialog.getByRole('textbox').fill(why)
    this.clicks++
    await this.press(dialog.getByRole('button', { name: label, exact: true }))
    await dialog.waitFor({ state: 'detached' })
  }
}
