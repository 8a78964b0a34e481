/** `npm run ops -- sim-mutants`: breaks a copy of the game in every listed way; the simulator must notice. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Copy } from '../support/mutants.ts'
import { MUTATIONS } from './mutations.ts'

/** The folders that the simulator needs. It uses no packages. */
const COPIED = ['package.json', 'actors', 'test/sim', 'test/support']
const SEEDS = 150
/** A mutant that hangs is caught as well. */
const PATIENCE_MS = 60_000

type Caught = { readonly by: string; readonly where: string } | null

/** Runs the simulator in this folder. */
async function simulated(folder: string): Promise<Caught> {
  const args = ['test/sim/run.ts', '--seed', '1', '--seeds', String(SEEDS), '--quiet']
  try {
    await promisify(execFile)(process.execPath, args, { cwd: folder, timeout: PATIENCE_MS })
    return null
  } catch (error) {
    const { stderr, killed } = error as { stderr: string; killed: boolean }
    if (killed) return { by: 'hangs', where: '' }
    const found = /^(seed \d+, step \d+): .*\n {2}(\S+): /m.exec(stderr)
    if (found === null) return { by: 'crashes', where: stderr.trim().split('\n')[0] ?? '' }
    return { by: found[2] ?? '', where: found[1] ?? '' }
  }
}

const copy = await Copy.of(COPIED, { packages: false })
let survivors = 0
try {
  const sound = await simulated(copy.folder)
  if (sound !== null) throw new Error(`the game is broken without any mutation: ${sound.by}, ${sound.where}`)
  for (const mutation of MUTATIONS) {
    const since = performance.now()
    const caught = await copy.whileBroken(mutation, () => simulated(copy.folder))
    const secs = ((performance.now() - since) / 1000).toFixed(1).padStart(5)
    if (caught === null) survivors++
    const verdict = caught === null ? 'SURVIVES' : caught.by
    console.log(`${mutation.name.padEnd(50)} ${verdict.padEnd(12)} ${secs} s  ${caught?.where ?? ''}`)
  }
} finally {
  await copy.remove()
}
console.log(survivors === 0 ? `all ${MUTATIONS.length} mutants are caught` : `${survivors} mutants survive`)
process.exitCode = survivors === 0 ? 0 : 1
