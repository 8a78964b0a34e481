/** What the modules of the page find in a browser when they are loaded. */
import { vi } from 'vitest'

/** A page in this language. The test takes it back with `vi.unstubAllGlobals`. */
export function stubPage(language: string): void {
  vi.stubGlobal('document', { documentElement: {}, addEventListener() {}, getElementById: () => null })
  vi.stubGlobal('window', { addEventListener() {} })
  vi.stubGlobal('location', new URL('https://touchline.example/'))
  vi.stubGlobal('localStorage', { getItem: () => language })
  vi.stubGlobal('sessionStorage', { getItem: () => null })
}
