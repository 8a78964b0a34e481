/**
 * Writes the parts of the clients that are made from the description of the REST API:
 *
 *   npm run ops -- client-generate
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generated } from './generated.ts'

for (const [path, text] of Object.entries(await generated())) {
  await writeFile(join(import.meta.dirname, '../..', path), text)
  console.log(path)
}
process.exit()
