/** The parts of the clients that are made from the API description. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { generated } from '../../ops/clients/generated.ts'

const ROOT = join(import.meta.dirname, '../..')
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

it('are those of the API as it is: else run `npm run ops -- client-generate`', async () => {
  const files = Object.entries(await generated())
  expect(files).not.toHaveLength(0)
  for (const [path, text] of files) {
    expect(textOf(path), path).toBe(text)
  }
})

it('the package for Python has the version of the API', () => {
  const { version } = JSON.parse(textOf('package.json')) as { version: string }
  expect(textOf('src/clients/python/pyproject.toml')).toContain(`version = "${version}"`)
})
