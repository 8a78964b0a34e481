/**
 * What `npm ci` does after installing: it makes what every start needs once, a migrated data folder of the embedded
 * database, and compiles the server. Without it a start does both, in six seconds and with a gigabyte.
 */
import { makeTemplate } from './rehearse/rig/migrated.ts'

await import('../src/compose/index.ts')
await makeTemplate()
