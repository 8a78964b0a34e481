/**
 * What `npm ci` does after installing: it compiles the server, bundles the page, and makes a migrated data folder of
 * the embedded database. Without it the first start does all of that, in six seconds and with a gigabyte.
 */
import { pageBundle } from '../src/http/page-bundle.ts'
import { makeTemplate } from './rehearse/rig/migrated.ts'

await import('../src/compose/index.ts')
await pageBundle()
await makeTemplate()
