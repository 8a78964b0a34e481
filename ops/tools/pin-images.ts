/**
 * Pins the images of deployment files to digests, so that nobody can serve another under the same version:
 *
 *   npm run ops -- pin-images [--check] [--registry https://mirror.example] [file…]
 *
 * It asks each image's registry for the digest that its tag has now, and writes `image:tag@sha256:…` into the files.
 * Test with them, and run it again to take in updates: a pinned image is asked for by its tag again. With `--check` it
 * contacts no registry and changes nothing, and the exit code is 1 if an image is not pinned. Without files: those of
 * this repository.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { digestOf, imagesIn, pinned } from './images.ts'

const DEPLOY = join(import.meta.dirname, '../deploy')
const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean', default: false }, registry: { type: 'string' } },
  allowPositionals: true,
})
const OURS = ['compose.yaml', 'Dockerfile', 'patroni/Dockerfile', 'kubernetes/backup.yaml']
const files = positionals.length > 0 ? positionals : OURS.map((file) => join(DEPLOY, file))
const registry = values.registry?.replace(/\/$/, '') ?? null

for (const file of files) {
  const text = readFileSync(file, 'utf8')
  const images = imagesIn(text)
  if (values.check) {
    for (const { text: image, digest } of images)
      console.log(`${file}: ${image} ${digest === null ? 'NOT PINNED' : 'ok'}`)
    if (images.some(({ digest }) => digest === null)) process.exitCode = 1
    continue
  }
  const digests = new Map<string, string>()
  for (const image of images) {
    // Pinned without a tag: there is nothing to ask for.
    if (image.tag === '' || digests.has(image.text)) continue
    const digest = await digestOf(image, registry)
    digests.set(image.text, digest)
    console.log(`${file}: ${image.name}:${image.tag} ${digest}${digest === image.digest ? ' (as before)' : ''}`)
  }
  const next = pinned(text, digests)
  if (next !== text) writeFileSync(file, next)
}
