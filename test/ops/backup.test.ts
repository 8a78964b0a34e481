/** The backup scripts: what they seal can be read back with the key alone, and nothing else passes for it. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { hasTool } from '../support/tool.ts'

const SCRIPTS = join(import.meta.dirname, '../../ops/deploy/backup')
const KEY = randomBytes(32).toString('base64url')
const SEGMENT = '000000010000000000000001'

describe.skipIf(!hasTool('gpg'))('a file of the log', () => {
  let folder = ''
  const at = (name: string): string => join(folder, name)
  const archived = (): string => at(`wal/${SEGMENT}.gpg`)
  const run = (
    script: string,
    args: readonly string[],
    key = KEY,
    more: Readonly<Record<string, string>> = {},
  ): number | null => {
    const env = { PATH: process.env['PATH'], BACKUP_DIR: folder, BACKUP_KEY: key, ...more }
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

  it('that does not exist is the end of the archive; what keeps the script from looking is not', () => {
    const next = ['000000010000000000000002', at('back')]
    expect(run('fetch-wal.sh', next)).toBe(1)
    expect(run('fetch-wal.sh', next, ''), 'no key').toBe(200)
    expect(run('fetch-wal.sh', next, KEY, { BACKUP_DIR: '' }), 'no folder named').toBe(200)
    expect(run('fetch-wal.sh', next, KEY, { BACKUP_DIR: at('unmounted') }), 'no archive there').toBe(200)
    expect(run('fetch-wal.sh', next, KEY, { TMPDIR: at('full') }), 'no folder for gpg').toBe(200)
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

describe.skipIf(!hasTool('gpg'))('a base backup', () => {
  let folder = ''
  const at = (name: string): string => join(folder, name)
  /** A program of PostgreSQL that notes what it does. */
  const tool = (name: string, body: string): void =>
    writeFileSync(at(`bin/${name}`), `#!/bin/bash\n${body}\n`, { mode: 0o755 })
  const backUp = (): number | null => {
    const path = `${at('bin')}:${process.env['PATH']}`
    const env = { PATH: path, BACKUP_DIR: folder, BACKUP_KEY: KEY, DATABASE_URL: 'postgres://one', NOTES: at('notes') }
    return spawnSync(join(SCRIPTS, 'backup.sh'), [], { env, stdio: 'ignore' }).status
  }
  const kept = (): string[] => readdirSync(at('base')).filter((name) => name.startsWith('base-'))
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'touchline-backup-'))
    mkdirSync(at('bin'))
    mkdirSync(at('base'))
    tool('psql', 'read -r asked; echo "$* $asked" >>"$NOTES"; echo slot; cat >/dev/null; echo released >>"$NOTES"')
    tool('pg_basebackup', 'echo "backup begins" >>"$NOTES"; echo data; sleep 0.2; echo "backup ends" >>"$NOTES"')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('has the server keep its log meanwhile, and is none if it does not', async () => {
    expect(backUp()).toBe(0)
    expect(kept()).toHaveLength(1)
    const notes = () => readFileSync(at('notes'), 'utf8').trim().split('\n')
    await vi.waitFor(() => expect(notes()).toHaveLength(4), { timeout: 30_000 })
    expect(notes()[0]).toMatch(
      /\?replication=true .*CREATE_REPLICATION_SLOT backup_\d+_\d+ TEMPORARY PHYSICAL RESERVE_WAL;/,
    )
    expect(notes().slice(1)).toEqual(['backup begins', 'backup ends', 'released'])
    rmSync(at('base'), { recursive: true })
    tool('psql', 'read -r asked; exit 3')
    expect(backUp()).not.toBe(0)
    expect(kept()).toEqual([])
  })

  it('removes what attempts that were killed a day ago have left', () => {
    const [old, now] = ['.base-20261119T041700Z.tar.gpg.part', '.base-20261121T041600Z.tar.gpg.part']
    for (const name of [old, now]) writeFileSync(at(`base/${name}`), 'half')
    const then = Date.now() / 1_000 - 25 * 3_600
    utimesSync(at(`base/${old}`), then, then)
    expect(backUp()).toBe(0)
    expect(readdirSync(at('base')).filter((name) => name.endsWith('.part'))).toEqual([now])
  })
})
