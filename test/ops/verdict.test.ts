/** What the gate makes of a failed test. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
        const failureMessages = status === 'failed' ? ['expected 1 to be 2\n    at node_modules/vitest'] : []
        return { name: join(ROOT, path), status, assertionResults: [{ fullName: 'it works', status, failureMessages }] }
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
  it('runs a failed file again if it is one of five that exist, and no other failed', () => {
    const listed = [...readFileSync(join(ROOT, '.ci/verdict.mjs'), 'utf8').matchAll(/^ {2}'(test\/[^']+)':/gm)].map(
      ([, path = '']) => path,
    )
    expect(listed.length).toBeGreaterThan(0)
    expect(listed.length).toBeLessThanOrEqual(5)
    expect(listed.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    expect(verdict('repeated', report('all', listed)).said).toBe(listed.join('\n'))
    expect(verdict('repeated', report('other', [...listed, 'test/a.test.ts'])).said).toBe('')
    expect(verdict('repeated', report('none', [])).said).toBe('')
  })

  it('passes when what failed has passed by itself, and says why it failed; else it fails', () => {
    const [first, good, bad] = [report('1', ['test/a.test.ts']), report('2', []), report('3', ['test/a.test.ts'])]
    expect(verdict('verdict', '0', '1', first, good)).toMatchObject({
      status: 0,
      said: 'expected 1 to be 2\nfailed once: test/a.test.ts: it works\n2 passed, 0 failed',
    })
    expect(verdict('verdict', '0', '1', first, bad)).toMatchObject({ status: 1 })
    expect(verdict('verdict', '0', '1', first, 'none').said).toBe(
      'expected 1 to be 2\nfailed: test/a.test.ts: it works\n1 passed, 1 failed',
    )
    const { testResults } = JSON.parse(readFileSync(good, 'utf8')) as { testResults: object[] }
    const hook = file('4', JSON.stringify({ testResults: testResults.map((one) => ({ ...one, status: 'failed' })) }))
    expect(verdict('verdict', '0', '1', hook, 'none').said).toBe(
      'failed: test/good.test.ts: outside its tests\n1 passed, 1 failed',
    )
    expect(verdict('verdict', '1', '0', good, 'none').said).toBe('1 passed, 1 failed')
    expect(verdict('verdict', '0', '1', good, 'none').said).toBe('1 passed, 1 failed')
  })
})
