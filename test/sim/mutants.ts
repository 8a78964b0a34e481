/** `npm run sim:mutants`: breaks a copy of the game in every way listed, and demands that the simulator notices. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { edited, type Mutation, MUTATIONS } from './mutations.ts'

const ROOT = join(import.meta.dirname, '../..')
/** What the simulator runs on. It needs no package. */
const COPIED = ['package.json', 'actors', 'test/sim', 'test/support']
const SEEDS = 150
/** A mutant that hangs is caught as well. */
const PATIENCE_MS = 60_000

type Caught = { readonly by: string; readonly where: string } | null

/** Breaks the copy, runs the simulator on it, and mends it again. */
async function attempt(copy: string, mutation: Mutation): Promise<Caught> {
  const files = [...new Set(mutation.edits.map((edit) => edit.file))]
  const originals = await Promise.all(files.map((file) => readFile(join(copy, file), 'utf8')))
  try {
    for (const [n, file] of files.entries()) {
      const edits = mutation.edits.filter((edit) => edit.file === file)
      await writeFile(join(copy, file), edits.reduce(edited, originals[n] ?? ''))
    }
    return await simulated(copy)
  } finally {
    for (const [n, file] of files.entries()) await writeFile(join(copy, file), originals[n] ?? '')
  }
}

async function simulated(copy: string): Promise<Caught> {
  const args = ['test/sim/run.ts', '--seed', '1', '--seeds', String(SEEDS), '--quiet']
  try {
    await promisify(execFile)(process.execPath, args, { cwd: copy, timeout: PATIENCE_MS })
    return null
  } catch (error) {
    const { stderr, killed } = error as { stderr: string; killed: boolean }
    if (killed) return { by: 'hangs', where: '' }
    const found = /^(seed \d+, step \d+): .*\n {2}(\S+): /m.exec(stderr)
    if (found === null) return { by: 'crashes', where: stderr.trim().split('\n')[0] ?? '' }
    return { by: found[2] ?? '', where: found[1] ?? '' }
  }
}

const copy = await mkdtemp(join(tmpdir(), 'touchline-mutants-'))
let survivors = 0
try {
  for (const path of COPIED) await cp(join(ROOT, path), join(copy, path), { recursive: true })
  const sound = await simulated(copy)
  if (sound !== null) throw new Error(`the game is broken without any mutation: ${sound.by}, ${sound.where}`)
  for (const mutation of MUTATIONS) {
    const since = performance.now()
    const caught = await attempt(copy, mutation)
    const secs = ((performance.now() - since) / 1000).toFixed(1).padStart(5)
    if (caught === null) survivors++
    const verdict = caught === null ? 'SURVIVES' : caught.by
    console.log(`${mutation.name.padEnd(50)} ${verdict.padEnd(12)} ${secs} s  ${caught?.where ?? ''}`)
  }
} finally {
  await rm(copy, { recursive: true })
}
console.log(survivors === 0 ? `all ${MUTATIONS.length} mutants are caught` : `${survivors} mutants survive`)
process.exitCode = survivors === 0 ? 0 : 1
