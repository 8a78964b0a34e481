/** The client for C#, compiled and run by Mono, which Debian has. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasTool } from '../support/tool.ts'
import { frameVectors, inOrder } from './frame-vectors.ts'
import { liveSession } from './live-session.ts'

const BUSY_MACHINE_MS = 120_000
const SOURCES = join(import.meta.dirname, '../../src/clients/csharp/Touchline')

describe.skipIf(!hasTool('mcs'))('in C#', () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchline-csharp-'))
  const session = join(folder, 'session.exe')
  beforeAll(() => {
    const sources = readdirSync(SOURCES).map((name) => join(SOURCES, name))
    const options = ['-langversion:7', '-warn:4', '-warnaserror', '-r:System.Net.Http.dll', `-out:${session}`]
    execFileSync('mcs', [...options, join(import.meta.dirname, 'Session.cs'), ...sources])
  }, BUSY_MACHINE_MS)
  afterAll(() => rmSync(folder, { recursive: true }))

  it('a price frame decodes to its values, and a damaged one to nothing', { timeout: BUSY_MACHINE_MS }, async () => {
    const vectors = await frameVectors()
    const input = vectors.flatMap(({ hex, damaged }) => [hex, damaged]).join('\n')
    const decoded: unknown[] = execFileSync('mono', [session, 'frames'], { input, encoding: 'utf8' })
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(decoded).toEqual(vectors.flatMap(({ frame }) => [inOrder(frame), null]))
  })

  it(
    'a program with a key trades, resumes after a lost socket without a gap, and closes',
    async () => {
      await liveSession('mono', [session])
    },
    BUSY_MACHINE_MS,
  )
})
