/** Reads a tape: whether its lines are one chain, and what positions are called on it. */
import type { Levels } from '../position/position.ts'
import { padText, PSEUDONYM_LENGTH, pseudonymText, unsealed } from './seal.ts'

/** Something that does not hold, with the number of the line. */
export class Flaw extends Error {
  override name = 'Flaw'
  readonly line: number

  constructor(line: number, what: string) {
    super(what)
    this.line = line
  }
}

export interface TapeLine {
  readonly n: number
  readonly hash: string
  readonly kind: string
  /** The pseudonym of a position. */
  readonly id?: string
  readonly owner?: string
  /** Sealed. */
  readonly levels?: string
  readonly key?: string
  /** Of what the match heard. */
  readonly digest?: string
  readonly [field: string]: unknown
}

const NO_HASH = '0'.repeat(64)
const HASH_MEMBER = /,"hash":"([0-9a-f]{64})"\}$/

/** The SHA-256 of a text, in hex. */
export type Digest = (text: string) => string | Promise<string>

/**
 * The lines of a tape. Throws a Flaw with the first that is not what its hash says, or does not follow the one before.
 * A part of a tape begins `after` another line.
 */
export async function readTape(
  texts: readonly string[],
  digest: Digest,
  after: { readonly n: number; readonly hash: string } = { n: 0, hash: NO_HASH },
): Promise<readonly TapeLine[]> {
  const hashes = await Promise.all(texts.map(async (text) => digest(text.replace(HASH_MEMBER, '}'))))
  let { n, hash: prev } = after
  return texts.map((text, index) => {
    n += 1
    const hash = HASH_MEMBER.exec(text)?.[1]
    if (hash === undefined) throw new Flaw(n, 'it does not end with a hash')
    if (hash !== hashes[index]) throw new Flaw(n, 'it is not what its hash says')
    const line = parsed(text, n)
    if (line.n !== n) throw new Flaw(n, `its number is ${String(line.n)}`)
    if (line.prev !== prev) throw new Flaw(n, 'it does not follow the line before')
    prev = hash
    return line
  })
}

function parsed(text: string, n: number): TapeLine & { readonly prev?: unknown } {
  try {
    return JSON.parse(text)
  } catch {
    throw new Flaw(n, 'it is not JSON')
  }
}

/** What the tape tells of its positions, and the order in which they closed. */
export interface Positions {
  /** Their keys, by pseudonym. */
  readonly keys: ReadonlyMap<string, string>
  /** Of the lines with levels, by number. */
  readonly levels: ReadonlyMap<number, Levels>
}

/** Opens the levels of every position that has closed. Throws a Flaw when a key is not the one that sealed them. */
export async function readPositions(lines: readonly TapeLine[], digest: Digest): Promise<Positions> {
  const keys = new Map<string, string>()
  const closes = lines.filter(({ kind }) => kind === 'close')
  const names = await Promise.all(closes.map(async ({ key }) => digest(pseudonymText(String(key)))))
  for (const [index, { n, id, key }] of closes.entries()) {
    if (id === undefined || names[index]?.slice(0, PSEUDONYM_LENGTH) !== id) throw new Flaw(n, 'the key is not its own')
    if (keys.has(id)) throw new Flaw(n, 'the position is closed already')
    keys.set(id, String(key))
  }
  const sealing = lines.filter(({ id, levels }) => levels !== undefined && keys.has(id ?? ''))
  const pads = await Promise.all(sealing.map(async ({ n, id }) => digest(padText(keys.get(id ?? '') ?? '', n))))
  const levels = new Map<number, Levels>()
  for (const [index, { n, levels: seal }] of sealing.entries()) {
    const opened = unsealed(seal ?? '', pads[index] ?? '')
    if (opened === null) throw new Flaw(n, 'its levels cannot be opened')
    levels.set(n, opened)
  }
  return { keys, levels }
}

/** The lines of each commit, with the line that begins it. */
export function commitsOf(lines: readonly TapeLine[]): readonly (readonly [TapeLine, ...TapeLine[]])[] {
  const commits: [TapeLine, ...TapeLine[]][] = []
  for (const line of lines.slice(1)) {
    const open = commits.at(-1)
    if (line.kind === 'commit') commits.push([line])
    else if (open === undefined) throw new Flaw(line.n, 'it belongs to no commit')
    else open.push(line)
  }
  return commits
}
