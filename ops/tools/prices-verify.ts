/**
 * Holds the prices of recordings against those that were published with the last change of the price model:
 *
 *   npm run ops -- prices-verify [--generated 100] [--write]
 *
 * Plays the bundled recordings and generated matches, and names of each the first update and the players whose prices
 * are others now. The exit code is 1 if any are. `--write` publishes the prices of now; it refuses if a price of the
 * same match differs and MODEL_VERSION is the published one, because no release changes the past unsaid.
 */
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { brotliCompressSync } from 'node:zlib'
import { MODEL_VERSION } from '../../actors/market/scoring.ts'
import { check, publish, PUBLISHED_PATH, readPublished, textOf, type Published } from '../verify/published-prices.ts'
import { GENERATED_MAX, pastRecordings, spanOf } from '../replays/past-recordings.ts'

const { values } = parseArgs({
  options: {
    generated: { type: 'string', default: String(GENERATED_MAX) },
    write: { type: 'boolean', default: false },
  },
})
const generated = Number(values.generated)
if (!Number.isSafeInteger(generated) || generated < 0 || generated > GENERATED_MAX) {
  console.error(`--generated must be a whole number from 0 to ${GENERATED_MAX}, not ${values.generated}`)
  process.exit(2)
}

const file = await readPublished().catch((error: NodeJS.ErrnoException) => {
  if (values.write && error.code === 'ENOENT') return { modelVersion: MODEL_VERSION, recordings: [] }
  throw error
})
const renewed: Published[] = []
const { flaws, moved, played } = await check(file, pastRecordings(values.write ? GENERATED_MAX : generated), (one) => {
  renewed.push(publish(one, spanOf(one.name)))
})
for (const flaw of flaws) console.log(flaw)

if (!values.write) {
  console.log(
    `${played} recordings, model version ${MODEL_VERSION}: ${flaws.length === 0 ? 'as published' : 'CHANGED'}`,
  )
  if (flaws.length > 0) {
    console.log('If this is meant: raise MODEL_VERSION, say so in the CHANGELOG, and run with --write.')
    process.exitCode = 1
  }
} else if (moved > 0 && file.modelVersion === MODEL_VERSION) {
  console.error(`Nothing is written: prices of version ${MODEL_VERSION} differ. Raise MODEL_VERSION first.`)
  process.exitCode = 1
} else {
  await writeFile(PUBLISHED_PATH, brotliCompressSync(textOf({ modelVersion: MODEL_VERSION, recordings: renewed })))
  console.log(`The prices of ${renewed.length} recordings are published as version ${MODEL_VERSION}.`)
}
