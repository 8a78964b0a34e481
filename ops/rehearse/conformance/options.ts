/** The options of a run. `main.ts` reads them, and so does the test file that it starts for each deployment. */
import { parseArgs } from 'node:util'

export const { values: options } = parseArgs({
  options: {
    mode: { type: 'string' },
    url: { type: 'string' },
    ws: { type: 'string', default: '' },
    trust: { type: 'string' },
    port: { type: 'string', default: '4801' },
    production: { type: 'boolean', default: false },
    slow: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    junit: { type: 'string' },
    markdown: { type: 'string' },
    exchanges: { type: 'string' },
  },
})

export const addresses = (text: string): string[] =>
  text.split(',').flatMap((address) => (address === '' ? [] : [address.replace(/\/+$/, '')]))
