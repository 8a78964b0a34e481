/** The data folder with which new ones begin. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { copyTemplate, packTemplate } from '../../db/postgres/embedded-template.ts'

let root: string
let template: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'touchline-template-'))
  template = join(root, 'template')
  for (const folder of ['made/pg/base/5', 'made/pg/empty', 'new']) mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, 'made/pg/PG_VERSION'), '18\n')
  writeFileSync(join(root, 'made/pg/base/5/1259'), new Uint8Array(8_192).fill(7))
  packTemplate(join(root, 'made'), template)
})
afterEach(() => rmSync(root, { recursive: true }))

const listed = (folder: string) => readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).toSorted()

it('a new folder gets all of it, for its owner alone', () => {
  expect(copyTemplate(join(root, 'new'), template)).toBe(true)
  expect(listed('new')).toEqual(listed('made'))
  for (const file of ['pg/PG_VERSION', 'pg/base/5/1259']) {
    expect(readFileSync(join(root, 'new', file))).toEqual(readFileSync(join(root, 'made', file)))
  }
  const modes = listed('new').map((path) => statSync(join(root, 'new', path)).mode & 0o077)
  expect(new Set(modes)).toEqual(new Set([0]))
})

it('a folder with a database stays as it is, and so does one for which there is no template', () => {
  mkdirSync(join(root, 'new/pg'))
  expect(copyTemplate(join(root, 'new'), template)).toBe(false)
  expect(listed('new')).toEqual(['pg'])
  rmSync(join(root, 'new/pg'), { recursive: true })
  expect(copyTemplate(join(root, 'new'), join(root, 'absent'))).toBe(false)
  expect(listed('new')).toEqual([])
})

it('what a killed process has left is replaced', () => {
  mkdirSync(join(root, 'new/pg.partial/half'), { recursive: true })
  expect(copyTemplate(join(root, 'new'), template)).toBe(true)
  expect(listed('new')).toEqual(listed('made'))
})

it.each([
  ['cut', () => writeFileSync(template, readFileSync(template).subarray(0, 40))],
  ['of something else', () => writeFileSync(template, gzipSync('other'))],
])('a template that is %s is named, and leaves no database', (_, damage) => {
  damage()
  expect(() => copyTemplate(join(root, 'new'), template)).toThrow(`${template} is not a packed data folder; delete it`)
  expect(readdirSync(join(root, 'new'))).not.toContain('pg')
})
