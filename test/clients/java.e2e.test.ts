/** The client for Java, compiled and run as its users do. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasTool } from '../support/tool.ts'
import { frameVectors, inOrder } from './frame-vectors.ts'
import { liveSession } from './live-session.ts'

const BUSY_MACHINE_MS = 120_000
const SOURCES = join(import.meta.dirname, '../../src/clients/java/touchline')

describe.skipIf(!hasTool('javac'))('in Java', () => {
  const classes = mkdtempSync(join(tmpdir(), 'touchline-java-'))
  beforeAll(() => {
    const sources = readdirSync(SOURCES).map((name) => join(SOURCES, name))
    const program = join(import.meta.dirname, 'Session.java')
    execFileSync('javac', ['--release', '17', '-Xlint:all', '-Werror', '-d', classes, ...sources, program])
  }, BUSY_MACHINE_MS)
  afterAll(() => rmSync(classes, { recursive: true }))

  it('a price frame decodes to its values, and a damaged one to nothing', { timeout: BUSY_MACHINE_MS }, async () => {
    const vectors = await frameVectors()
    const input = vectors.flatMap(({ hex, damaged }) => [hex, damaged]).join('\n')
    const out = execFileSync('java', ['-cp', classes, 'Session', 'frames'], { input, encoding: 'utf8' })
    const decoded: unknown[] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(decoded).toEqual(vectors.flatMap(({ frame }) => [inOrder(frame), null]))
  })

  it(
    'a program with a key trades, resumes after a lost socket without a gap, and closes',
    async () => {
      await liveSession('java', ['-cp', classes, 'Session'])
    },
    BUSY_MACHINE_MS,
  )
})
