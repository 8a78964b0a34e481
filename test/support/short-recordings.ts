/** The bundled recordings with one update a minute instead of six: whole matches, played in a sixth of the time. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import type { Recording } from '../../actors/replay/recording.ts'
import { listRecordings, loadRecording, type RecordingFile } from '../../src/replays/recordings.ts'

const REPLAYS = join(import.meta.dirname, '../../ops/replays')
const STEP = 6

/** The last update shows the end of the match. */
export async function shortRecording(name: string): Promise<Recording> {
  const recording = await loadRecording(join(REPLAYS, `${name}.jsonl.br`))
  const { frames } = recording
  return { ...recording, frames: frames.filter((_, n) => n % STEP === 0 || n === frames.length - 1) }
}

/** The lines of one: its head, then its updates. */
export async function shortLines(name: string): Promise<readonly string[]> {
  const { title, anchors, frames } = await shortRecording(name)
  return [{ recording: { name, title, anchors } }, ...frames].map((line) => JSON.stringify(line))
}

/** All of them, in files that are removed after the tests of the file that calls this. */
export async function shortFiles(): Promise<readonly RecordingFile[]> {
  const folder = mkdtempSync(join(tmpdir(), 'touchline-recordings-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  for (const { name } of await listRecordings(REPLAYS))
    writeFileSync(join(folder, `${name}.jsonl`), (await shortLines(name)).join('\n'))
  return listRecordings(folder)
}
