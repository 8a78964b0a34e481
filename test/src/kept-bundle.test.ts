/** The bundled page of an earlier start is used while nothing that it was made of has changed. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { keepBundle, keptBundle } from '../../src/http/kept-bundle.ts'

const PAGE = {
  files: [{ name: 'main-1.js', body: new Uint8Array([1, 2]), imports: ['chunk-2.js'] }],
  entries: { 'main.ts': 'main-1.js' },
}
const LIBRARY = 'node_modules/library/index.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'touchline-page-'))
  for (const path of ['src/http/page-bundle.ts', 'package-lock.json', 'src/web/main.ts', LIBRARY]) write(path)
})
afterEach(() => rmSync(root, { recursive: true }))

function write(path: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), path)
}

it('is what was kept', () => {
  expect(keptBundle(root)).toBeNull()
  keepBundle(PAGE, ['src/web/main.ts', LIBRARY], root)
  expect(keptBundle(root)).toEqual(PAGE)
})

it.each([
  ['a file of the page is edited', () => utimesSync(join(root, 'src/web/main.ts'), 1, 1)],
  ['a file of the page is added', () => write('src/web/features/new/style.css')],
  ['a library changes', () => writeFileSync(join(root, LIBRARY), 'longer than before, and of another time')],
  ['a library is gone', () => rmSync(join(root, LIBRARY))],
  ['how the page is bundled changes', () => utimesSync(join(root, 'src/http/page-bundle.ts'), 1, 1)],
  ['it cannot be read', () => writeFileSync(join(root, 'node_modules/.cache/touchline/page'), 'half')],
])('is not used when %s', (_, change) => {
  keepBundle(PAGE, ['src/web/main.ts', LIBRARY], root)
  change()
  expect(keptBundle(root)).toBeNull()
})

it('is not kept where the packages cannot be written', () => {
  write('node_modules/.cache')
  expect(() => keepBundle(PAGE, [], root)).not.toThrow()
  expect(keptBundle(root)).toBeNull()
})
