/**
 * Forges tapes and has the verifier find it:
 *
 *   npm run ops -- tape-forgeries [--traders 500] [--bytes 10000] [--rewritten 60]
 *
 * Three recorded matches with simulated traders. Each must be proved whole. Then single bytes are changed, at random
 * places: each must be found, and its line named. Then lines are changed and every hash after them is written again, as
 * only a forger could who has no checkpoint to contradict: each must be found where it is, or where something no longer
 * follows from it.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { chanceFrom } from '../../actors/replay/chance.ts'
import { listRecordings, loadRecording } from '../../src/replays/recordings.ts'
import { Flaw, readTape } from '../../actors/tape/read-tape.ts'
import { verify } from '../../src/verify/verify.ts'
import { numbers } from '../rehearse/rig/options.ts'
import { tapedMatch } from './taped-match.ts'

const values = numbers({ traders: [500, 1], bytes: [10_000, 1], rewritten: [60, 1] })
const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
const evidence = { checkpoints: [], keys: new Map<string, string>(), proof: null }
const say = (line: string): void => void process.stderr.write(`${line}\n`)

/** The number of the line that a verifier names; null if it finds nothing. */
async function found(check: () => Promise<unknown>): Promise<number | null> {
  try {
    await check()
    return null
  } catch (error) {
    if (error instanceof Flaw) return error.line
    throw error
  }
}

/** What can be changed about a line so that it is still a line, by kind. */
const CHANGES: Readonly<Record<string, (line: Record<string, number | string>) => void>> = {
  open: (line) => (line['price'] = Number(line['price']) + 1),
  close: (line) => (line['pnl'] = Number(line['pnl']) + 1),
  reduce: (line) => (line['margin'] = Number(line['margin']) + 1),
  price: (line) => (line['price'] = Number(line['price']) - 1),
  settle: (line) => (line['price'] = Number(line['price']) + 1),
  levels: (line) => (line['levels'] = `${line['levels'] === '0' ? '1' : '0'}${String(line['levels']).slice(1)}`),
  hear: (line) => (line['digest'] = digest(String(line['digest']))),
  listed: (line) => (line['start'] = Number(line['start']) + 1),
}

function rewritten(
  tape: readonly string[],
  at: number,
  change: (line: Record<string, number | string>) => void,
): string[] {
  let prev = ''
  return tape.map((text, n) => {
    const { hash: was, ...line }: Record<string, number | string> = JSON.parse(text)
    if (n < at) {
      prev = String(was)
      return text
    }
    if (n > at) line['prev'] = prev
    else change(line)
    const body = JSON.stringify(line)
    prev = digest(body)
    return `${body.slice(0, -1)},"hash":"${prev}"}`
  })
}

let missed = 0
const recordings = await listRecordings(join(import.meta.dirname, '../replays'))
for (const [index, { name, path }] of recordings.entries()) {
  const recording = await loadRecording(path)
  const match = await tapedMatch({
    recording,
    traders: values.traders,
    seed: index + 1,
    takeOvers: [150, 320],
  })
  const text = match.recording.join('\n')
  const spent = process.cpuUsage()
  const { lines, counts } = await verify({ ...evidence, tape: match.tape.join('\n'), recording: text }, { digest })
  const { user, system } = process.cpuUsage(spent)
  console.log(
    `${name}: ${lines} lines, ${counts['open']} openings proved in ` +
      `${((user + system) / 1e6).toFixed(2)} s of processor time`,
  )
  const chance = chanceFrom(100 + index)
  const bytes = Math.ceil(values.bytes / recordings.length)
  const before = missed
  for (let n = 0; n < bytes; n++) {
    // The lines before are as they were, so that the verifier need not read them again.
    const at = chance.below(match.tape.length)
    const line = match.tape[at] ?? ''
    const place = chance.below(line.length)
    const byte = String.fromCharCode((line.charCodeAt(place) ^ (1 << chance.below(7))) & 127)
    const forged = line.slice(0, place) + byte + line.slice(place + 1)
    const last: { hash?: string } = JSON.parse(match.tape[at - 1] ?? '{}')
    const after = { n: at, hash: last.hash ?? '0'.repeat(64) }
    const texts = [forged, ...match.tape.slice(at + 1, at + 2)]
    if ((await found(() => readTape(texts, digest, after))) === at + 1) continue
    missed += 1
    say(`${name}: a changed byte in line ${at + 1} is not found there: ${forged.slice(0, 200)}`)
  }
  console.log(`${name}: ${bytes - (missed - before)} of ${bytes} changed bytes are named by their line`)
  const changed = Math.ceil(values.rewritten / recordings.length)
  const kinds = new Map<string, number>()
  for (let n = 0; n < changed; n++) {
    const [kind = '', change] = Object.entries(CHANGES)[n % Object.keys(CHANGES).length] ?? []
    const places = match.tape.flatMap((line, place) => (line.includes(`,"kind":"${kind}",`) ? [place] : []))
    const at = places[chance.below(Math.max(1, places.length))]
    if (change === undefined || at === undefined) continue
    const tape = rewritten(match.tape, at, change).join('\n')
    const line = await found(() => verify({ ...evidence, tape, recording: text }, { digest }))
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    if (line === at + 1) continue
    missed += 1
    say(`${name}: a rewritten ${kind} in line ${at + 1} is ${line === null ? 'not found' : `found in line ${line}`}`)
  }
  console.log(`${name}: rewritten with new hashes: ${[...kinds].map(([kind, n]) => `${n} ${kind}`).join(', ')}`)
}
if (missed > 0) {
  console.error(`${missed} were missed, or named by another line`)
  process.exitCode = 1
}
