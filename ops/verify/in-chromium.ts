/** The verifier's page in Chromium, with files that are given to it as somebody would drag them. */
import { chromium } from 'playwright-core'
import { present } from '../../actors/kernel/assert.ts'
import { folderPlace } from '../rehearse/rig/data-place.ts'
import { Program } from '../rehearse/rig/program.ts'

const EXECUTABLE = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
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
  const place = folderPlace()
  const server = new Program({ ...place.settings, DEMO_TRADERS: '0' })
  const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-gpu'] })
  const url = await server.listening
  const page = await browser.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  return {
    async prove(tape, recording) {
      await page.goto(`${url}/verify`)
      const file = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
      await page
        .locator('#files')
        .setInputFiles([file('tape.ndjson', tape), file('recording.jsonl', `${HEAD}\n${recording}`)])
      await page.locator('#result:not([hidden])').waitFor()
      const said = await page.locator('#result').evaluate((result) => result.innerText)
      return present(/ is proved\s+(\d[\d,]* lines in [\d.]+ s)/.exec(said)?.[1], `a proof instead of: ${said}`)
    },
    async close() {
      await browser.close()
      await server.stop()
      await place.remove([])
    },
  }
}
