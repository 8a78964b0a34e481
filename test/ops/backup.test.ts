/** The backup scripts: what they seal can be read back with the key alone, and nothing else passes for it. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hasTool } from '../support/tool.ts'

const SCRIPTS = join(import.meta.dirname, '../../ops/deploy/backup')
const KEY = randomBytes(32).toString('base64url')
const SEGMENT = '000000010000000000000001'

describe.skipIf(!hasTool('gpg'))('a file of the log', () => {
  let folder = ''
  const at = (name: string): string => join(folder, name)
  const archived = (): string => at(`wal/${SEGMENT}.gpg`)
  const run = (script: string, args: readonly string[], key = KEY): number | null => {
    const env = { PATH: process.env['PATH'], BACKUP_DIR: folder, BACKUP_KEY: key }
    return spawnSync(join(SCRIPTS, script), args, { env, stdio: 'ignore' }).status
  }
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'touchline-backup-'))
    writeFileSync(at('segment'), Buffer.concat([randomBytes(100_000), Buffer.alloc(100_000)]))
    run('archive-wal.sh', [at('segment'), SEGMENT])
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('is compressed, and comes back as it was', () => {
    expect(readFileSync(archived()).length).toBeLessThan(110_000)
    expect(run('fetch-wal.sh', [SEGMENT, at('back')])).toBe(0)
    expect(readFileSync(at('back')).equals(readFileSync(at('segment')))).toBe(true)
  })

  it('is archived again without harm, and never replaced by another', () => {
    const first = readFileSync(archived())
    expect(run('archive-wal.sh', [at('segment'), SEGMENT])).toBe(0)
    writeFileSync(at('other'), randomBytes(1_000))
    expect(run('archive-wal.sh', [at('other'), SEGMENT])).toBe(1)
    expect(readFileSync(archived()).equals(first)).toBe(true)
    expect(readdirSync(at('wal'))).toEqual([`${SEGMENT}.gpg`])
  })

  it('ends the recovery when it was altered, is short or has another key, and leaves nothing', () => {
    const whole = readFileSync(archived())
    const refused = (key?: string): void => {
      // Above 125 PostgreSQL stops; below it would take this for the end of the log.
      expect(run('fetch-wal.sh', [SEGMENT, at('back')], key)).toBe(200)
      expect(existsSync(at('back'))).toBe(false)
    }
    for (const place of [0, 40, Math.floor(whole.length / 2), whole.length - 1]) {
      const altered = Buffer.from(whole)
      altered.writeUInt8(altered.readUInt8(place) ^ 1, place)
      writeFileSync(archived(), altered)
      refused()
    }
    writeFileSync(archived(), whole.subarray(0, -1))
    refused()
    writeFileSync(archived(), whole)
    refused(randomBytes(32).toString('base64url'))
    refused('short')
  })

  it('that does not exist is the end of the archive', () => {
    expect(run('fetch-wal.sh', ['000000010000000000000002', at('back')])).toBe(1)
  })

  it('is no base backup, which leaves the folder empty; a folder with data is not touched', () => {
    mkdirSync(at('data'))
    expect(run('restore.sh', [archived(), at('data')])).toBe(1)
    expect(readdirSync(at('data'))).toEqual([])
    writeFileSync(join(at('data'), 'PG_VERSION'), '17')
    expect(run('restore.sh', [archived(), at('data')])).toBe(1)
    expect(readdirSync(at('data'))).toEqual(['PG_VERSION'])
  })
})
