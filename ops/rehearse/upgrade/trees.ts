/** Trees of files: the version before, checked out, and copies of this one with migrations planted into them. */
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { demand } from '../rig/account.ts'
import { THIS_TREE } from '../rig/bare-environment.ts'
import { refuse } from '../rig/options.ts'

export interface PlantedMigration {
  readonly name: string
  readonly sql: string
  readonly isBreaking: boolean
}

const MIGRATIONS = 'db/postgres/migrations'

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: THIS_TREE, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

/** The last version tag on the way here; `HEAD` if there is none. */
export function previousVersion(): string {
  try {
    return git('describe', '--tags', '--abbrev=0', '--first-parent')
  } catch {
    return 'HEAD'
  }
}

/** The commit that `--from` names, in short. Ends the program when there is none. */
export function commitNamed(ref: string): string {
  try {
    return git('rev-parse', '--short', '--verify', '--quiet', `${ref}^{commit}`)
  } catch {
    return refuse(`--from names no commit: ${ref}`)
  }
}

/** Checks the commit `ref` out into `folder`, with packages to run it. `removeCheckout` removes it. */
export function checkOut(ref: string, folder: string): string {
  git('worktree', 'add', '--detach', folder, ref)
  const [ours, theirs] = [THIS_TREE, folder].map((tree) => readFileSync(join(tree, 'package-lock.json'), 'utf8'))
  if (ours === theirs) linkPackages(folder)
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' })
  return `${ref} (${commitNamed(ref)})`
}

/** Also what a checkout that failed has left. */
export function removeCheckout(folder: string): void {
  if (existsSync(join(folder, '.git'))) git('worktree', 'remove', '--force', folder)
  rmSync(folder, { recursive: true, force: true })
}

/** Copies this tree, also what is not committed, into `folder` and plants migrations. */
export function copyThisTree(folder: string, planted: readonly PlantedMigration[]): void {
  for (const file of git('ls-files', '--cached', '--others', '--exclude-standard', '-z').split('\0')) {
    if (file === '' || !existsSync(join(THIS_TREE, file))) continue
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    copyFileSync(join(THIS_TREE, file), join(folder, file))
  }
  linkPackages(folder)
  for (const { name, sql, isBreaking } of planted) {
    writeFileSync(join(folder, MIGRATIONS, `${name}.sql`), isBreaking ? `-- breaking\n${sql}` : sql)
  }
}

/** Throws unless the migrations of the version before are a beginning of this version's. */
export function demandSameBeginning(before: string, ref: string): void {
  for (const file of readdirSync(join(before, MIGRATIONS)).filter((name) => name.endsWith('.sql'))) {
    const [former, present] = [before, THIS_TREE].map((tree) => {
      const path = join(tree, MIGRATIONS, file)
      return existsSync(path) ? readFileSync(path, 'utf8') : null
    })
    demand(former === present, () => {
      return `${file} of ${ref} was removed or edited since, which no database survives: give a later --from`
    })
  }
}

const linkPackages = (folder: string): void =>
  symlinkSync(join(THIS_TREE, 'node_modules'), join(folder, 'node_modules'))
