/**
 * Compares the description of the REST API with that of the last release:
 *
 *   npm run ops -- api-release [--write [--breaking]]
 *
 * Names every change that breaks a client, and ends with 1 if there is one. `--write` keeps the description of now as
 * the released one, for a release; it refuses while something breaks, unless `--breaking` says that a new version of
 * the API is meant.
 */
import { parseArgs } from 'node:util'
import { apiBreaks } from './api-breaks.ts'
import { readReleased, served, writeReleased } from './released.ts'

const { values } = parseArgs({
  options: { write: { type: 'boolean', default: false }, breaking: { type: 'boolean', default: false } },
})
const now = await served()
const breaks = await readReleased().then((released) => apiBreaks(released, now))
for (const line of breaks) console.log(line)
if (breaks.length > 0 && !(values.write && values.breaking)) {
  console.log(`${breaks.length} changes break clients of the last release. Take them back, or raise API_VERSION.`)
  process.exitCode = 1
} else if (values.write) {
  await writeReleased(now)
  console.log(`The description of ${Object.keys(now.paths).length} paths is kept as released.`)
} else {
  console.log('Nothing breaks clients of the last release.')
}
process.exit()
