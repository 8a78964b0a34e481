/** The backup scripts of `ops/deploy/backup`, run as an operator runs them. */
import { randomBytes } from 'node:crypto'
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { present } from '../../../actors/kernel/assert.ts'
import { demand } from '../rig/account.ts'
import { PostgresPrograms } from '../rig/postgres.ts'
import type { Settings } from '../rig/program.ts'

const SCRIPTS = join(import.meta.dirname, '../../deploy/backup')
/** Where a copy of a backup is altered: behind all headers. */
const ALTERED_AT = 0.5

export class Backups {
  /** PostgreSQL's programs, with the environment that the scripts need. */
  readonly programs: PostgresPrograms
  readonly #scripts: string
  readonly #folder: string

  /** Backups and a copy of the scripts in this folder, so that PostgreSQL's user can read them. Throws without it. */
  constructor(folder: string) {
    this.#folder = join(folder, 'backups')
    this.#scripts = join(folder, 'scripts')
    const key = randomBytes(32).toString('base64url')
    const found = PostgresPrograms.find({ BACKUP_DIR: this.#folder, BACKUP_KEY: key })
    this.programs = present(found, "PostgreSQL's programs and a user other than root to run them")
    this.programs.makeFolder(this.#folder)
    cpSync(SCRIPTS, this.#scripts, { recursive: true })
    chmodSync(this.#scripts, 0o755)
  }

  /** Settings of a server whose log is archived, at the latest after this many seconds. */
  archiving(secs: number): Settings {
    return {
      archive_mode: 'on',
      archive_command: `"${join(this.#scripts, 'archive-wal.sh')}" %p %f`,
      archive_timeout: String(secs),
    }
  }

  /** Takes a base backup of this server. Returns its file. */
  async take(server: string): Promise<string> {
    return (await this.#run('backup.sh', [], { DATABASE_URL: server })).trim()
  }

  /** Prepares this empty folder for a recovery up to a moment. */
  async restore(backup: string, data: string, moment: readonly [kind: 'name' | 'time', which: string]): Promise<void> {
    await this.#run('restore.sh', [backup, data, ...moment])
  }

  /** Throws a Violation unless an altered backup, one that is cut short, and a wrong key are refused. */
  async refusesForgeries(backup: string, folder: string): Promise<void> {
    const whole = readFileSync(backup)
    const forge = (name: string, change: (file: string) => void): string => {
      const file = join(this.#folder, name)
      writeFileSync(file, whole, { mode: 0o644 })
      change(file)
      return file
    }
    const altered = forge('altered', (file) => {
      const at = Math.floor(whole.length * ALTERED_AT)
      const bytes = Buffer.from(whole)
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
      writeFileSync(file, bytes)
    })
    const short = forge('short', (file) => truncateSync(file, whole.length - 1))
    const cases: readonly (readonly [string, string, Settings])[] = [
      ['a byte was altered', altered, {}],
      ['a byte is missing', short, {}],
      ['the key is wrong', backup, { BACKUP_KEY: randomBytes(32).toString('base64url') }],
    ]
    for (const [what, file, env] of cases) {
      const data = join(folder, 'refused')
      this.programs.makeFolder(data)
      const isRefused = await this.#run('restore.sh', [file, data], env).then(
        () => false,
        () => true,
      )
      demand(isRefused, () => `a backup was restored although ${what}`)
      demand(readdirSync(data).length === 0, () => `a refused backup left files behind: ${what}`)
      rmSync(data, { recursive: true })
    }
    rmSync(altered)
    rmSync(short)
  }

  /** Files of the archived log, and their bytes. */
  get archived(): { readonly files: number; readonly bytes: number } {
    const files = readdirSync(join(this.#folder, 'wal')).filter((name) => name.endsWith('.gpg'))
    const bytes = files.reduce((sum, name) => sum + statSync(join(this.#folder, 'wal', name)).size, 0)
    return { files: files.length, bytes }
  }

  #run(script: string, args: readonly string[], env: Settings = {}): Promise<string> {
    return this.programs.run(join(this.#scripts, script), args, env)
  }
}
