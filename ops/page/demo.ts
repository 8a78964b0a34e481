/** A demo server of its own, and a browser to look at it. */
import type { Browser } from 'playwright-core'
import { folderPlace } from '../rehearse/rig/data-place.ts'
import { Program, type Settings } from '../rehearse/rig/program.ts'
import { launch } from './browser.ts'

export interface Demo {
  readonly url: string
  readonly browser: Browser
  close(): Promise<void>
}

/** Throws if there is no Chromium. */
export async function openDemo(settings: Settings = {}): Promise<Demo> {
  const browser = await launch()
  const place = await folderPlace()
  const server = new Program({ ...place.env, ...settings })
  const { url } = await server.listening
  return {
    url,
    browser,
    async close() {
      await browser.close()
      await server.stop()
      await place.remove()
    },
  }
}
