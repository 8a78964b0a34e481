/** The tapes of all simulated matches: each must come out again of what it says that its match was asked. */
import { createHash } from 'node:crypto'
import { present } from '../../actors/kernel/assert.ts'
import type { FixtureId } from '../../actors/kernel/ids.ts'
import type { Batch } from '../../actors/match/store.ts'
import { type JournalLine, JournalWriter } from '../../db/journal-codec.ts'
import { TapePublisher, unpacked } from '../../db/tape-lines.ts'
import { TapeWriter } from '../../db/tape-writer.ts'
import type { HeardLine } from '../../src/provider/recording-line.ts'
import { Rerun } from '../../src/verify/rerun.ts'
import { Flaw, readPositions, readTape } from '../../actors/tape/read-tape.ts'
import { hold } from './violation.ts'

interface Tape {
  readonly lines: string[]
  readonly heard: HeardLine[]
  readonly secret: Buffer
  readonly publisher: TapePublisher
}

export class TapeCheck {
  readonly #tapes = new Map<FixtureId, Tape>()
  readonly #journal = new JournalWriter()
  readonly #writer = new TapeWriter(
    async (matchId) => {
      const tape = this.#tapes.get(matchId)
      return tape === undefined ? null : { n: tape.lines.length, secret: tape.secret }
    },
    { secret: (bytes) => '5a'.repeat(bytes) },
  )

  /** Takes what a commit has written. */
  async take(batch: Batch): Promise<void> {
    const journal = this.#journal.row(batch.matchId, batch.epoch, batch.heard ?? [])
    const row = await this.#writer.row(batch, journal?.lines ?? [])
    journal?.keep()
    row?.keep()
    if (row === null) return
    const tape = this.#tapes.get(batch.matchId) ?? begun(present(row.secret ?? undefined, 'secret'))
    this.#tapes.set(batch.matchId, tape)
    for (const text of unpacked(row.lines)) tape.lines.push(tape.publisher.publish(text))
    tape.heard.push(...(journal?.lines ?? []).map(heardFrom))
  }

  /** Runs every match again. Throws a Violation for one that does not come out as it did. */
  async check(): Promise<void> {
    for (const [matchId, { lines, heard }] of this.#tapes) {
      const read = await readTape(lines, sha256)
      try {
        await new Rerun(read, await readPositions(read, sha256), heard).run(() => Promise.resolve())
      } catch (error) {
        if (!(error instanceof Flaw)) throw error
        const text = lines[error.line - 1] ?? ''
        hold('tape', false, () => `match ${matchId}, line ${error.line}: ${error.message}; it says ${text}`)
      }
    }
  }
}

const begun = (secret: Uint8Array): Tape => ({
  lines: [],
  heard: [],
  secret: Buffer.from(secret),
  publisher: new TapePublisher(secret),
})

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

function heardFrom(line: JournalLine): HeardLine {
  const text = JSON.stringify(line)
  return { text, digest: sha256(text) }
}
