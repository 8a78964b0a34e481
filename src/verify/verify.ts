/**
 * Proves a match: that its tape is one chain, signed as it stands, and that every price, fill, fired level, void,
 * correction and settlement on it follows from what the match heard. It uses the game's own rules and the provider's
 * parser, and nothing else of the server.
 */
import { TAPE_FORMAT } from '../../actors/tape/facts.ts'
import { type Digest, Flaw, readPositions, readTape, type TapeLine } from '../../actors/tape/read-tape.ts'
import { ownerText } from '../../actors/tape/seal.ts'
import { heardIn } from '../provider/recording-line.ts'
import { type Progress, Rerun } from './rerun.ts'

/** A signature over a tape as it was. */
export interface Checkpoint {
  readonly matchId: number
  readonly n: number
  readonly hash: string
  readonly at: number
  readonly kid: string
  readonly signature: string
}

/** What shows whose a position is. */
export interface Proof {
  readonly matchId: number
  readonly positionId: string
  readonly userId: string
  readonly n: number
  readonly salt: string
}

export interface Evidence {
  /** The text of a tape: lines of JSON. */
  readonly tape: string
  /** The text of the match's recording. Without it prices are not proved. */
  readonly recording: string | null
  readonly checkpoints: readonly Checkpoint[]
  /** By `kid`: Ed25519 keys in base64url. */
  readonly keys: ReadonlyMap<string, string>
  readonly proof: Proof | null
}

export interface Proven {
  readonly matchId: number
  readonly lines: number
  readonly checkpoints: number
  /** Whether the match has settled by the end of the tape. */
  readonly isWhole: boolean
  /** Whether a recording was given, so that the match was run again and every line compared. */
  readonly isRerun: boolean
  /** Lines by kind. */
  readonly counts: Readonly<Record<string, number>>
  /** The lines about the position of the proof. */
  readonly position: readonly TapeLine[]
}

const noProgress = (): Promise<void> => Promise.resolve()

const linesIn = (text: string): string[] => text.split('\n').filter((line) => line !== '')

/** The SHA-256 of a text in any engine, in hex. */
async function webDigest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

interface Options {
  /** Another SHA-256, where the engine has a faster one. */
  readonly digest?: Digest
  /** Waited for now and then. */
  readonly progress?: Progress
}

/** Throws a Flaw with the first line of the tape that does not hold. */
export async function verify(
  evidence: Evidence,
  { digest = webDigest, progress = noProgress }: Options = {},
): Promise<Proven> {
  const { tape, recording, checkpoints, keys, proof } = evidence
  const lines = await readTape(linesIn(tape), digest)
  const [head] = lines
  if (head?.kind !== 'match') throw new Flaw(1, 'it is not the beginning of a tape')
  if (head['format'] !== TAPE_FORMAT) throw new Flaw(1, `format ${String(head['format'])} is not known here`)
  const matchId = Number(head['matchId'])
  for (const checkpoint of checkpoints) await check(checkpoint, lines, matchId, keys)
  const positions = await readPositions(lines, digest)
  const position = proof === null ? [] : await proved(proof, lines, matchId, digest)
  if (recording !== null) await new Rerun(lines, positions, await heardIn(linesIn(recording), digest)).run(progress)
  const counts: Record<string, number> = {}
  for (const { kind } of lines) counts[kind] = (counts[kind] ?? 0) + 1
  const isWhole = lines.some(({ kind, settledAt }) => kind === 'state' && settledAt !== null)
  const isRerun = recording !== null
  return { matchId, lines: lines.length, checkpoints: checkpoints.length, isWhole, isRerun, counts, position }
}

/** Whether the tape was signed as it stands. A checkpoint beyond its end shows that lines are missing. */
async function check(
  { signature, ...signed }: Checkpoint,
  lines: readonly TapeLine[],
  matchId: number,
  keys: Evidence['keys'],
): Promise<void> {
  const { n, kid, hash } = signed
  if (signed.matchId !== matchId) throw new Flaw(n, `a checkpoint of match ${signed.matchId} is none of this tape`)
  const key = keys.get(kid)
  if (key === undefined) throw new Flaw(n, `no key is known as ${kid}, which signed it`)
  const imported = await crypto.subtle.importKey('jwk', { kty: 'OKP', crv: 'Ed25519', x: key }, 'Ed25519', false, [
    'verify',
  ])
  const text = JSON.stringify({ matchId, n, hash, at: signed.at, kid })
  const bytes = Uint8Array.from(atob(signature), (char) => char.charCodeAt(0))
  const isSigned = await crypto.subtle.verify('Ed25519', imported, bytes, new TextEncoder().encode(text))
  if (!isSigned) throw new Flaw(n, 'the signature of its checkpoint is not good')
  const line = lines[n - 1]
  if (line === undefined) throw new Flaw(lines.length + 1, `it is missing: a checkpoint was signed at line ${n}`)
  if (line.hash !== hash) throw new Flaw(n, 'another line was signed at this place')
}

/** The lines about the position that this proof shows to be its user's. */
async function proved(
  { n, salt, userId, positionId, matchId }: Proof,
  lines: readonly TapeLine[],
  of: number,
  digest: Digest,
) {
  if (matchId !== of) throw new Flaw(n, `the proof is of match ${matchId}, the tape of match ${of}`)
  const line = lines[n - 1]
  if (line?.kind !== 'open') throw new Flaw(n, 'it opens no position, as the proof says')
  if ((await digest(ownerText(salt, userId, positionId))) !== line.owner)
    throw new Flaw(n, 'the proof is not of its owner')
  return lines.filter(({ id }) => id === line.id)
}
