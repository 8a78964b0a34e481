/**
 * Runs a check on a copy of the project for each of a list of mutations, and ends with 1 unless all of them fail it.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Copy, type Mutation } from './mutants.ts'

export interface Caught {
  /** The check that failed. */
  readonly by: string
  readonly where: string
}

export interface MutantRun {
  /** The files of the project that the check needs. */
  readonly copied: readonly string[]
  readonly packages: boolean
  /** A program of the copy, with its arguments: it ends with 0 on a sound program. */
  readonly command: readonly string[]
  readonly mutations: readonly Mutation[]
  /** Its finding on a broken program, from its output. */
  readonly found: (stderr: string) => Caught
}

/** A mutant that runs this many times as long as the sound program has hung, which counts as caught. */
const PATIENCE = 5

export async function runMutants({ copied, packages, command, mutations, found }: MutantRun): Promise<void> {
  const copy = await Copy.of(copied, { packages })
  /** Null when the check passes. */
  const check = async (timeoutMs: number): Promise<Caught | null> => {
    try {
      await promisify(execFile)(process.execPath, command, { cwd: copy.folder, timeout: timeoutMs })
      return null
    } catch (error) {
      const { stderr, killed } = error as { stderr: string; killed: boolean }
      return killed ? { by: 'hangs', where: '' } : found(stderr)
    }
  }
  let survivors = 0
  try {
    const since = performance.now()
    const sound = await check(0)
    if (sound !== null) throw new Error(`the program is broken without any mutation: ${sound.by}, ${sound.where}`)
    const patienceMs = Math.ceil(PATIENCE * (performance.now() - since))
    for (const mutation of mutations) {
      const from = performance.now()
      const caught = await copy.whileBroken(mutation, () => check(patienceMs))
      const secs = ((performance.now() - from) / 1000).toFixed(1).padStart(5)
      if (caught === null) survivors++
      console.log(
        `${mutation.name.padEnd(50)} ${(caught?.by ?? 'SURVIVES').padEnd(12)} ${secs} s  ${caught?.where ?? ''}`,
      )
    }
  } finally {
    await copy.remove()
  }
  console.log(survivors === 0 ? `all ${mutations.length} mutants are caught` : `${survivors} mutants survive`)
  process.exitCode = survivors === 0 ? 0 : 1
}
