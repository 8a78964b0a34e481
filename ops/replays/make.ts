/** Makes the bundled replays: `npm run ops -- replay-make [directory]`. Equal plans give equal frames. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { anchorsOf, simulateMatch } from '../../actors/replay/generator/match-sim.ts'
import { changed } from '../../actors/replay/json-patch.ts'
import { BUNDLED } from './plans.ts'

// A larger window than 256 KB finds no more, and unpacking would take as much memory as it has.
const PACKING = { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 18 } }

const directory = process.argv[2] ?? import.meta.dirname
await mkdir(directory, { recursive: true })
for (const { name, title, seed, plan } of BUNDLED) {
  const frames = simulateMatch(plan)
  const recording = { name, title, seed, anchors: anchorsOf(plan) }
  const changes = frames.map((frame, n) => (n === 0 ? frame : (changed(frames[n - 1], frame) ?? [1])))
  const lines = [{ recording }, ...changes].map((line) => `${JSON.stringify(line)}\n`)
  const packed = brotliCompressSync(lines.join(''), PACKING)
  await writeFile(join(directory, `${name}.jsonl.br`), packed)
  console.log(`${name}: ${frames.length} frames, ${Math.round(packed.length / 1024)} KB`)
}
