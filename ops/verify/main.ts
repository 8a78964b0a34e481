/**
 * Proves a match from what it has made public of itself:
 *
 *   npm run verify -- <tape.ndjson | http://…/api/public/tape/7>
 *                     [--recording recording.jsonl[.br|.gz]] [--checkpoints checkpoints.json] [--keys keys.json]
 *                     [--position proof.json]
 *
 * With an address it fetches recording, checkpoints and keys from beside it. It uses the game's own rules and the
 * provider's parser, and nothing else (src/verify). The exit code is 1, and the line is named, if something does not
 * hold. Without a recording prices are not proved, and it says so.
 */
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Flaw } from '../../actors/tape/read-tape.ts'
import { refuse, understood } from '../rehearse/rig/options.ts'
import { type Checkpoint, type Evidence, type Proof, type Proven, verify } from '../../src/verify/verify.ts'

const { values, positionals } = understood(() =>
  parseArgs({
    allowPositionals: true,
    options: {
      recording: { type: 'string' },
      checkpoints: { type: 'string' },
      keys: { type: 'string' },
      position: { type: 'string' },
    },
  }),
)
const [source] = positionals
if (source === undefined || positionals.length > 1)
  refuse('usage: npm run verify -- <file or address of a tape> [--recording f] [--position proof.json]')

const isAddress = /^https?:\/\//.test(source)

/** The text of a file, unpacked by its name. */
async function fileText(path: string): Promise<string> {
  const bytes = await readFile(path)
  return (
    path.endsWith('.br') ? brotliDecompressSync(bytes) : path.endsWith('.gz') ? gunzipSync(bytes) : bytes
  ).toString()
}

/** Null for 404. */
async function fetched(address: string): Promise<string | null> {
  const response = await fetch(address)
  if (response.status === 404) return null
  if (!response.ok) throw new Error(`${address} answers ${response.status}: ${(await response.text()).slice(0, 200)}`)
  return response.text()
}

async function textOf(option: string | undefined, address: string): Promise<string | null> {
  if (option !== undefined) return fileText(option)
  return isAddress ? fetched(address) : null
}

async function evidence(from: string): Promise<Evidence> {
  // Before the tape, which may grow meanwhile: all of them are on it.
  const checkpoints = await textOf(values.checkpoints, `${from}/checkpoints`)
  const tape = isAddress ? await fetched(from) : await fileText(from)
  if (tape === null) throw new Error(`${from} is no tape, or it is no longer kept`)
  const recording = await textOf(values.recording, `${from}/recording`)
  const keys = await textOf(values.keys, new URL('keys', isAddress ? from : 'http://none').href)
  const known: { keys: { kid: string; publicKey: string }[] } = JSON.parse(keys ?? '{"keys":[]}')
  const signed: { checkpoints: Checkpoint[] } = JSON.parse(checkpoints ?? '{"checkpoints":[]}')
  const proof: Proof | null = values.position === undefined ? null : JSON.parse(await fileText(values.position))
  return {
    tape,
    recording,
    checkpoints: signed.checkpoints,
    keys: new Map(known.keys.map(({ kid, publicKey }) => [kid, publicKey])),
    proof,
  }
}

function report({ matchId, lines, checkpoints, counts, isRerun, isWhole, position }: Proven): string {
  const count = (kind: string): number => counts[kind] ?? 0
  const found = [
    `match ${matchId}: ${lines} lines, one chain, ${checkpoints} checkpoints`,
    isRerun
      ? `proved: ${count('price')} prices, ${count('open')} openings, ${count('close')} closes, ` +
        `${count('settle')} settlement prices`
      : 'not proved: prices, because there is no recording of what the match heard',
    isWhole ? 'the match has settled' : 'the match had not settled by then',
  ]
  for (const { hash: _hash, prev: _prev, owner: _owner, key: _key, ...line } of position) {
    found.push(`your position, ${JSON.stringify(line)}`)
  }
  return found.join('\n')
}

const digest = (text: string): string => hash('sha256', text, 'hex')
const before = process.cpuUsage()
try {
  const proven = await verify(await evidence(source), { digest })
  const { user, system } = process.cpuUsage(before)
  console.log(`${report(proven)}\nin ${((user + system) / 1e6).toFixed(1)} s of processor time`)
} catch (error) {
  const what = error instanceof Error ? error.message : String(error)
  console.error(error instanceof Flaw ? `line ${error.line} does not hold: ${what}` : what)
  process.exitCode = 1
}
