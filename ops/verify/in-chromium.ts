/** The verifier's page in Chromium, with files that are given to it as somebody would drag them. */
import { present } from '../../actors/kernel/assert.ts'
import { openDemo } from '../page/demo.ts'

/** The page knows a recording by its first line. */
const HEAD = JSON.stringify({ recording: {} })
const PATIENCE_MS = 120_000

export interface ProvingPage {
  /** What the page says of these files. */
  prove(tape: string, recording: string): Promise<string>
  close(): Promise<void>
}

/** A server of its own, and its page in a browser. Throws if there is no Chromium. */
export async function provingPage(): Promise<ProvingPage> {
  const demo = await openDemo({ DEMO_TRADERS: '0' })
  const page = await demo.browser.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  return {
    async prove(tape, recording) {
      await page.goto(`${demo.url}/verify`)
      const file = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
      await page
        .locator('#files')
        .setInputFiles([file('tape.ndjson', tape), file('recording.jsonl', `${HEAD}\n${recording}`)])
      await page.locator('#result:not([hidden])').waitFor()
      const said = await page.locator('#result').evaluate((result) => result.innerText)
      return present(/ is proved\s+(\d[\d,]* lines in [\d.]+ s)/.exec(said)?.[1], `a proof instead of: ${said}`)
    },
    close: () => demo.close(),
  }
}
