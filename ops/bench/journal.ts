/**
 * Measures what the journal of a match costs: bytes, and processor time to write them.
 *
 *   npm run ops -- bench-journal [recording ...]
 *
 * Each update of each recording becomes a row, as when the match hears it. The rows are read back and compared. The
 * time is the least of several rounds, because other programs on the machine only add to it.
 */
import { join } from 'node:path'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { instant } from '../../actors/kernel/world.ts'
import type { FeedUpdate } from '../../actors/match/messages.ts'
import { JournalReader, JournalWriter } from '../../db/journal-codec.ts'
import { listRecordings, loadRecording } from '../../src/replays/recordings.ts'
import { table } from './report.ts'

const ROUNDS = 7
const MATCH = fixtureId(1)
const FRAME_MS = 10_000

const named = process.argv.slice(2)
const bundled = await listRecordings(join(import.meta.dirname, '../replays'))
const paths = named.length > 0 ? named : bundled.map(({ path }) => path)

const rows: string[][] = []
for (const path of paths) {
  const { name, frames } = await loadRecording(path)
  // As a provider's answers are: nothing of one is shared with the one before.
  const texts = frames.map((frame) => JSON.stringify(frame))
  let [least, bytes] = [Infinity, 0]
  for (let round = 0; round < ROUNDS; round++) {
    const updates = texts.map((text, n) => updateOf(JSON.parse(text), n))
    const writer = new JournalWriter()
    const written: { readonly fresh: boolean; readonly entries: Uint8Array }[] = []
    const before = process.cpuUsage()
    for (const update of updates) {
      const at = instant(update.snapshot.sourceAt)
      const row = writer.row(MATCH, 1, [{ after: 0, heard: { kind: 'update', at, update, histories: new Map() } }])
      if (row === null) throw new Error('an update left no row')
      row.keep()
      written.push(row)
    }
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1_000)
    bytes = written.reduce((sum, { entries }) => sum + entries.length, 0)
    const reader = new JournalReader()
    for (const [n, row] of written.entries()) {
      const [line] = reader.read(row)
      if (JSON.stringify(line?.['payload']) !== texts[n]) throw new Error(`update ${n} of ${name} comes back changed`)
    }
  }
  const original = texts.reduce((sum, text) => sum + text.length, 0)
  rows.push([name, String(frames.length), (original / 1e6).toFixed(1), (bytes / 1e3).toFixed(1), least.toFixed(0)])
}
console.log(table(['recording', 'updates', 'payloads, MB', 'journal, kB', 'processor, ms'], rows))

/** Only these fields of a snapshot are written beside its payload. */
function updateOf(payload: unknown, n: number): FeedUpdate {
  const startsAt = instant(Date.UTC(2026, 4, 6, 19))
  const snapshot = { startsAt, sourceAt: instant(startsAt + n * FRAME_MS), expectedGoals: null }
  const source = { payload, players: 'provider' }
  return { kind: 'feed_update', seq: n + 1, snapshot: snapshot as FeedUpdate['snapshot'], source }
}
