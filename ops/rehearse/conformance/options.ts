/** The options of a run. `main.ts` reads them, and so does the test file that it starts for each deployment. */
import { parseArgs } from 'node:util'
import { whole } from '../rig/options.ts'

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

/** Where the parties that a deployment trusts listen; 0: any free one. */
export const trustPort = whole('port', options.port, 0, 65_535)

export const addresses = (text: string): string[] =>
  text.split(',').flatMap((address) => (address === '' ? [] : [address.replace(/\/+$/, '')]))
