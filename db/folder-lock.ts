/** Keeps two processes out of one data folder: the embedded database does not, and loses rows when both write. */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export interface FolderLock {
  release(): void
}

/** Folders this process has locked; its own pid in a lock file is otherwise what a predecessor in a container left. */
const held = new Set<string>()

/**
 * Locks a folder, which is made when it is missing. A lock whose process has died is taken over.
 * Throws when a living process has it, this one included.
 */
export function lockFolder(folder: string): FolderLock {
  mkdirSync(folder, { recursive: true })
  const path = join(resolve(folder), 'pg.lock')
  const mine = `${path}.${process.pid}`
  if (held.has(path)) throw inUse(folder, process.pid, path)
  writeFileSync(mine, String(process.pid))
  try {
    if (!tryLink(mine, path)) {
      removeIfStale(folder, path)
      if (!tryLink(mine, path)) throw inUse(folder, ownerOf(path), path)
    }
  } finally {
    rmSync(mine)
  }
  held.add(path)
  return {
    release() {
      if (held.delete(path)) rmSync(path, { force: true })
    },
  }
}

/** Gives the lock its name in one step, content included; false when the name is taken. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** Moves a dead owner's lock away. What was moved is read again: somebody quicker may have put his own there meanwhile. */
function removeIfStale(folder: string, path: string): void {
  const owner = ownerOf(path)
  if (isAlive(owner)) throw inUse(folder, owner, path)
  const aside = `${path}.stale.${process.pid}`
  renameSync(path, aside)
  if (isAlive(ownerOf(aside))) tryLink(aside, path)
  rmSync(aside)
}

function ownerOf(path: string): number {
  return Number(readFileSync(path, 'utf8'))
}

function isAlive(pid: number): boolean {
  if (pid === process.pid || !Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM' // alive, and somebody else's
  }
}

function inUse(folder: string, owner: number, path: string): Error {
  return new Error(`${folder} is in use by process ${owner}; stop it, or delete ${path} if it is not this program`)
}
