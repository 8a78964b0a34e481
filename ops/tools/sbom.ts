/**
 * Writes the list of what the image contains (CycloneDX), made from the lock file, and checks it:
 *
 *   npm run ops -s -- sbom [file]
 *
 * Without a file it goes to stdout. The check walks the dependencies of package.json through the lock file, as the
 * program finds them, and compares every package that it reaches with the list and its digest. (`npm sbom` leaves out
 * whatever a development package needs too; on this lock file, two thirds of the image.) The exit code is 1 if one is
 * missing or has no digest.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { billOf, type Lock, Locked, missingFrom } from './sbom-bill.ts'

const lock: Lock = Locked.parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8')))
const bill = billOf(lock)
const missing = missingFrom(bill, lock)
for (const name of missing) console.error(`${name} is in the image and not in the list, or has no digest there`)
const text = `${JSON.stringify(bill, null, 1)}\n`
const [file] = process.argv.slice(2)
if (file === undefined) process.stdout.write(text)
else {
  writeFileSync(file, text)
  console.log(`${bill.components.length} packages, ${missing.length} missing: ${file}`)
}
process.exitCode = missing.length === 0 ? 0 : 1
