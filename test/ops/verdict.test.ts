/** What the gate makes of a failed test. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'touchline-verdict-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** A report in which these files have failed, beside one that has passed. */
const report = (name: string, failed: readonly string[]): string =>
  file(
    name,
    JSON.stringify({
      testResults: ['test/good.test.ts', ...failed].map((path) => {
        const status = failed.includes(path) ? 'failed' : 'passed'
        return { name: join(ROOT, path), status, assertionResults: [{ fullName: 'it works', status }] }
      }),
    }),
  )

function verdict(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['.ci/verdict.mjs', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  return { status, said: stdout.trim(), complaint: stderr }
}

describe('the gate', () => {
  it('runs failed files again unless they are many', () => {
    const three = ['a', 'b', 'c'].map((name) => `test/${name}.test.ts`)
    expect(verdict('repeated', report('one', three.slice(0, 1))).said).toBe('test/a.test.ts')
    expect(verdict('repeated', report('three', three)).said).toBe(three.join('\n'))
    expect(verdict('repeated', report('four', [...three, 'test/d.test.ts'])).said).toBe('')
    expect(verdict('repeated', report('none', [])).said).toBe('')
  })

  it('passes when what failed has passed by itself, and names it; else it fails', () => {
    const [first, good, bad] = [report('1', ['test/a.test.ts']), report('2', []), report('3', ['test/a.test.ts'])]
    expect(verdict('verdict', '0', '1', first, good)).toMatchObject({
      status: 0,
      said: 'failed once: test/a.test.ts: it works\n2 passed, 0 failed',
    })
    expect(verdict('verdict', '0', '1', first, bad)).toMatchObject({ status: 1 })
    expect(verdict('verdict', '0', '1', first, 'none').said).toBe(
      'failed: test/a.test.ts: it works\n1 passed, 1 failed',
    )
    expect(verdict('verdict', '1', '0', good, 'none').said).toBe('1 passed, 1 failed')
    expect(verdict('verdict', '0', '1', good, 'none').said).toBe('1 passed, 1 failed')
  })
})
