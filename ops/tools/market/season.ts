/** Plays many matches, on one core or on several, and collects the results in the order of the matches. */
import { Worker } from 'node:worker_threads'
import { present } from '../../../actors/kernel/assert.ts'
import { loadRecording } from '../../../src/replays/recordings.ts'
import { type MatchResult, playBattery } from './battery.ts'
import { leagueMatch, recordedMatch } from './league.ts'
import { MODES } from './modes.ts'

/** A match to play: the seed of a simulated one, or the path of a recording. */
export type Source = number | string

/** Plays one match under the rules of a mode. */
export async function playSource(source: Source, mode: string): Promise<MatchResult> {
  const fixture = typeof source === 'number' ? leagueMatch(source) : recordedMatch(await loadRecording(source))
  const seed = typeof source === 'number' ? source : fixture.id
  return playBattery(fixture, present(MODES[mode], 'mode'), seed)
}

/** What a worker tells: the place of a match in the list, and its result. */
export interface Report {
  readonly place: number
  readonly result: MatchResult
}

/** `onPlayed` is called after each match. Rejects with the first failure. */
export async function playAll(
  sources: readonly Source[],
  { workers, mode }: { readonly workers: number; readonly mode: string },
  onPlayed: (done: number) => void,
): Promise<readonly MatchResult[]> {
  const results: MatchResult[] = []
  let done = 0
  const take = ({ place, result }: Report): void => {
    results[place] = result
    onPlayed((done += 1))
  }
  if (workers === 1) {
    for (const [place, source] of sources.entries()) take({ place, result: await playSource(source, mode) })
    return results
  }
  const places = sources.map((source, place) => ({ place, source, mode }))
  const parts = Array.from({ length: workers }, (_, n) => places.filter(({ place }) => place % workers === n))
  await Promise.all(parts.map((part) => inWorker(part, take)))
  return results
}

export interface Part {
  readonly place: number
  readonly source: Source
  readonly mode: string
}

function inWorker(part: readonly Part[], take: (report: Report) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData: part })
    worker.on('message', take)
    worker.once('error', reject)
    worker.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`))))
  })
}
