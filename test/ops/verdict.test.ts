/** What the gate makes of a failed test. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'

const ROOT = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'touchline-verdict-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** A report in which these files have failed, beside one that has passed. */
const report = (name: string, failed: readonly string[], uncaught = 0): string => {
  file(`${name}.uncaught`, String(uncaught))
  return file(
    name,
    JSON.stringify({
      testResults: ['test/good.test.ts', ...failed].map((path) => {
        const status = failed.includes(path) ? 'failed' : 'passed'
        const failureMessages = status === 'failed' ? ['expected 1 to be 2\n    at node_modules/vitest'] : []
        return { name: join(ROOT, path), status, assertionResults: [{ fullName: 'it works', status, failureMessages }] }
      }),
    }),
  )
}

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
    // Ended by its time limit, or with an error that no file can be asked about again.
    expect(verdict('verdict', '0', '124', first, good)).toMatchObject({ status: 1 })
    for (const [one, other] of [
      [report('leaky', ['test/a.test.ts'], 1), good],
      [first, report('leaky again', [], 1)],
    ] as const) {
      expect(verdict('verdict', '0', '1', one, other)).toMatchObject({
        status: 1,
        said: expect.stringMatching(/failed: 1 errors outside all tests\n2 passed, 1 failed$/),
      })
    }
    const cut = file('cut', readFileSync(first, 'utf8'))
    expect(verdict('verdict', '0', '1', cut, good)).toMatchObject({ status: 1 })
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

  const shell = (script: string) =>
    spawn('bash', ['-c', `source .ci/servers; rmdir "$scratch"; end_by end_jobs; ${script}`], { cwd: ROOT })
  const within = 'within 600 bash -c "echo \\$\\$; exec sleep 600"'

  it.each([
    ['SIGINT', 130, within],
    ['SIGTERM', 143, within],
    ['SIGINT', 130, `(end_by end_jobs; ${within}) & wait`],
  ] as const)('ends what it runs when it gets %s, and exits with %i', async (signal, status, script) => {
    const gate = shell(script)
    const [started] = z.tuple([z.instanceof(Buffer)]).parse(await once(gate.stdout, 'data'))
    const child = Number(started.toString())
    gate.kill(signal)
    expect(await once(gate, 'close')).toEqual([status, null])
    await vi.waitFor(() => expect(() => process.kill(child, 0)).toThrow('ESRCH'), { timeout: 30_000 })
  })

  it('ends what hangs', async () => {
    const gate = shell('within 1 sleep 60; exit $?')
    const [said] = z.tuple([z.instanceof(Buffer)]).parse(await once(gate.stdout, 'data'))
    expect(said.toString()).toBe('ended after 1 seconds: sleep 60\n')
    expect(await once(gate, 'close')).toEqual([124, null])
  })
})
