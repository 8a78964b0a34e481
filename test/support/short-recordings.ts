/** The bundled recordings with one update a minute instead of six: whole matches, played in a sixth of the time. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll } from 'vitest'
import type { Recording } from '../../actors/replay/recording.ts'
import { listRecordings, readRecording, type RecordingFile } from '../../src/replays/recordings.ts'

const REPLAYS = join(import.meta.dirname, '../../ops/replays')
const STEP = 6

/** The lines of one: its head, then its updates. The last one shows the end of the match. */
export async function shortLines(name: string): Promise<readonly string[]> {
  const text = brotliDecompressSync(await readFile(join(REPLAYS, `${name}.jsonl.br`))).toString()
  const [head = '', ...updates] = text.trimEnd().split('\n')
  return [head, ...updates.filter((_, n) => n % STEP === 0 || n === updates.length - 1)]
}

export async function shortRecording(name: string): Promise<Recording> {
  return readRecording(name, [Buffer.from((await shortLines(name)).join('\n'))], 'plain')
}

/** All of them, in files that are removed after the tests of the file that calls this. */
export async function shortFiles(): Promise<readonly RecordingFile[]> {
  const folder = mkdtempSync(join(tmpdir(), 'touchline-recordings-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  for (const { name } of await listRecordings(REPLAYS))
    writeFileSync(join(folder, `${name}.jsonl`), (await shortLines(name)).join('\n'))
  return listRecordings(folder)
}
