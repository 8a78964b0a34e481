/**
 * Locks a data folder against a second process. The embedded database does not, and loses rows when two processes
 * write.
 */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

export interface FolderLock {
  release(): void
}

/**
 * Folders that this process has locked. Its own pid in any other lock file was left by a predecessor in a container.
 */
const held = new Set<string>()

/** A killed process takes a moment to exit, during which its successor may already start. */
const PATIENCE_MS = 3_000
const RETRY_MS = 100

/** The folder belongs to another process. */
class FolderInUse extends Error {
  override name = 'FolderInUse'
}

/** Locks a folder like `lockFolder`, but waits a moment for an owner that is exiting. */
export async function lockFolderSoon(folder: string): Promise<FolderLock> {
  for (let waitedMs = 0; ; waitedMs += RETRY_MS) {
    try {
      return lockFolder(folder)
    } catch (error) {
      if (!(error instanceof FolderInUse) || waitedMs >= PATIENCE_MS || held.has(lockOf(folder))) throw error
    }
    await pause(RETRY_MS)
  }
}

/**
 * Locks a folder, and creates it if it is missing. The lock of a dead process is taken over. Throws FolderInUse when a
 * living process has it, including this one.
 */
export function lockFolder(folder: string): FolderLock {
  mkdirSync(folder, { recursive: true })
  const path = lockOf(folder)
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

const lockOf = (folder: string): string => join(resolve(folder), 'pg.lock')

/** Creates the lock with its content in one step; false when it exists. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** Moves a dead owner's lock away. The moved lock is read again, because a quicker process may have replaced it. */
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
    return !isZombie(pid)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM' // alive, and another user's
  }
}

/** Dead but not yet reaped by its parent, which is common in containers. Unknown on systems other than Linux. */
function isZombie(pid: number): boolean {
  try {
    // The name in brackets may hold anything, so the state is what follows the last bracket.
    return /\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8').slice(-400))
  } catch {
    return false
  }
}

function inUse(folder: string, owner: number, path: string): FolderInUse {
  return new FolderInUse(
    `${folder} is in use by process ${owner}; stop it, or delete ${path} if it is not this program`,
  )
}
