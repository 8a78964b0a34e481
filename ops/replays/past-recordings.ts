/** The recordings whose prices are published: the bundled ones, and matches that the generator makes from seeds. */
import { anchorsOf, simulateMatch } from '../../actors/replay/generator/match-sim.ts'
import type { Recording } from '../../actors/replay/recording.ts'
import { listRecordings, loadRecording } from '../../src/replays/recordings.ts'
import { leaguePlan } from '../tools/market/league.ts'

export const GENERATED_MAX = 100
/** Every fifth generated match has extra time and penalties if it is a draw. */
const KNOCKOUT_EVERY = 5

/** Of a bundled recording each difference is named exactly; of a generated one within this many updates. */
export const spanOf = (name: string): number => (name.startsWith('generated-') ? 32 : 1)

/** All bundled recordings, then this many generated ones. */
export async function* pastRecordings(generated: number): AsyncGenerator<Recording> {
  const bundled = await listRecordings(import.meta.dirname)
  for (const { path } of bundled) yield await loadRecording(path)
  for (let seed = 1; seed <= generated; seed++) {
    const plan = { ...leaguePlan(seed), knockout: seed % KNOCKOUT_EVERY === 0 }
    const name = `generated-${seed}`
    yield { name, title: name, fixtureName: name, anchors: anchorsOf(plan), frames: simulateMatch(plan) }
  }
}
