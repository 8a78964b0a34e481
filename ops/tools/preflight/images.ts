/** Whether the images of a deployment file are pinned to digests. */
import { readFileSync } from 'node:fs'
import type { Config } from '../../../src/config.ts'
import { imagesIn } from '../images.ts'
import { failed, type Finding, ok, warned } from './finding.ts'

/** Deployment files among the arguments; the others are addresses. */
export const isDeploymentFile = (argument: string): boolean => /\.ya?ml$|Dockerfile[^/]*$/.test(argument)

export async function checkImages(
  file: string,
  { production }: Pick<Config, 'production'>,
): Promise<readonly Finding[]> {
  const images = imagesIn(readFileSync(file, 'utf8'))
  const loose = images.filter(({ digest }) => digest === null).map(({ text }) => text)
  if (loose.length === 0) return [ok('images', `${file}: ${images.length} pinned`)]
  const says = `${file}: ${loose.join(', ')} not pinned to a digest; run \`npm run ops -- pin-images\``
  return [production ? failed('images', says) : warned('images', says)]
}
