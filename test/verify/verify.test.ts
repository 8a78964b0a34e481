import { hash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { instant } from '../../actors/kernel/world.ts'
import { type TapedMatch, tapedMatch } from '../../ops/verify/taped-match.ts'
import { loadOrCreateKeys, newPrivateKeyPem } from '../../src/auth/keys.ts'
import type { Unsigned } from '../../db/public-tape.ts'
import { TapeSigner } from '../../src/features/tape/signer.ts'
import { shortRecording } from '../support/short-recordings.ts'
import { Flaw } from '../../actors/tape/read-tape.ts'
import { type Checkpoint, type Evidence, verify } from '../../src/verify/verify.ts'

type Line = Record<string, unknown>

const sha256 = (text: string): string => hash('sha256', text, 'hex')

let match: TapedMatch
let evidence: Evidence

beforeAll(async () => {
  const recording = await shortRecording('slow-burner')
  match = await tapedMatch({ recording, traders: 400, seed: 5, takeOvers: [17, 50] })
  const tape = match.tape.join('\n')
  evidence = { tape, recording: match.recording.join('\n'), checkpoints: [], keys: new Map(), proof: null }
})

/** The line that a verifier names, and what it says of it. */
async function flawIn(over: Partial<Evidence>): Promise<readonly [line: number, what: string]> {
  const found = await verify({ ...evidence, ...over }, { digest: sha256 }).catch((error: unknown) => error)
  if (!(found instanceof Flaw)) throw new Error(`no flaw: ${JSON.stringify(found) ?? String(found)}`)
  return [found.line, found.message]
}

/** The tape with one line changed, and every hash from there on written again. */
function rewritten(at: number, change: (line: Line) => Line | null): string {
  let prev = ''
  const lines = match.tape.flatMap((text, n) => {
    const { hash: was, ...line }: Line = JSON.parse(text)
    if (n < at) prev = String(was)
    if (n < at) return [text]
    const next = n === at ? change(line) : line
    if (next === null) return []
    const body = JSON.stringify(n === at ? next : { ...next, prev })
    prev = sha256(body)
    return [`${body.slice(0, -1)},"hash":"${prev}"}`]
  })
  return lines.join('\n')
}

/** The place of the nth line of a kind for which a condition holds. */
function placeOf(kind: string, n: number, where: (line: Line) => boolean = () => true): number {
  const places = match.tape.flatMap((text, at) => {
    const line: Line = JSON.parse(text)
    return line['kind'] === kind && where(line) ? [at] : []
  })
  return present(places[n], `${kind} line ${n}`)
}

describe('verifier', () => {
  it('[J8] proves every line of a match with traders and new owners, in any engine', async () => {
    const proven = await verify(evidence, { digest: sha256 })
    expect(proven).toMatchObject({ isRerun: true, isWhole: true, lines: match.tape.length })
    expect(proven.counts['open']).toBeGreaterThan(200)
    expect(proven.counts['close']).toBe(proven.counts['open'])
    for (const kind of ['levels', 'curve', 'settle']) expect(proven.counts[kind], kind).toBeGreaterThan(0)
    const closes = match.tape.flatMap((line) => /"by":"(\w+)"/.exec(line)?.[1] ?? [])
    expect(new Set(closes)).toEqual(new Set(['user', 'stop_loss', 'take_profit', 'full_time']))
    expect(await verify(evidence)).toEqual(proven)
  })

  it('[J9] finds a changed byte, wherever it is, and names its line', async () => {
    for (let n = 0; n < 20; n++) {
      const at = (n * 7_919) % match.tape.length
      const text = present(match.tape[at], 'line')
      const place = (n * 104_729) % text.length
      const byte = text[place] === '7' ? '8' : '7'
      const tape = match.tape.with(at, text.slice(0, place) + byte + text.slice(place + 1)).join('\n')
      expect((await flawIn({ tape, recording: null }))[0]).toBe(at + 1)
    }
  })

  it.each<readonly [kind: string, what: string, change: (line: Line) => Line]>([
    ['open', 'a better fill', (line) => ({ ...line, price: Number(line['price']) - 1 })],
    ['open', 'a smaller margin', (line) => ({ ...line, margin: Number(line['margin']) - 1 })],
    ['price', 'another price', (line) => ({ ...line, price: Number(line['price']) + 1 })],
    ['settle', 'another settlement price', (line) => ({ ...line, price: Number(line['price']) + 1 })],
    ['close', 'another PnL', (line) => ({ ...line, pnl: Number(line['pnl']) + 1 })],
    ['hear', 'something it never heard', (line) => ({ ...line, digest: sha256('something') })],
    ['listed', 'another start price', (line) => ({ ...line, start: Number(line['start']) + 1 })],
  ])('[J9] finds a rewritten %s line: %s', async (kind, _, change) => {
    const at = placeOf(kind, 3)
    const [line, what] = await flawIn({ tape: rewritten(at, change) })
    expect([line, what]).toEqual([at + 1, expect.stringMatching(/follows|the recording has/)])
  })

  it('[J9] finds a stop that did not fire, and one that nobody had set', async () => {
    const fired = placeOf('close', 0, (line) => line['by'] === 'stop_loss')
    const [missing] = await flawIn({ tape: rewritten(fired, () => null) })
    expect(missing).toBe(fired + 1) // the number of the next line
    const held = placeOf('close', 0, (line) => line['by'] === 'full_time')
    const { id }: Line = JSON.parse(present(match.tape[held], 'line'))
    const opened = placeOf('open', 0, (line) => line['id'] === id)
    const sealed = (line: Line): Line => ({
      ...line,
      levels: `${String(line['levels']).slice(0, 9)}00000${'0'.repeat(14)}`,
    })
    const [at] = await flawIn({ tape: rewritten(opened, sealed) })
    expect(at).toBeGreaterThanOrEqual(opened + 1)
    const [unlocked, why] = await flawIn({ tape: rewritten(held, (line) => ({ ...line, key: 'ab'.repeat(24) })) })
    expect([unlocked, why]).toEqual([held + 1, 'the key is not its own'])
  })

  it('[J9] finds that an update was heard at another time', async () => {
    const at = placeOf('hear', 50) - 1
    const [line, what] = await flawIn({
      tape: rewritten(at, (commit) => ({ ...commit, at: Number(commit['at']) - 1 })),
    })
    expect([line, what]).toEqual([at + 2, expect.stringMatching(/^it was heard at \d+, not with its commit$/)])
  })

  it('[J9] finds a recording that is not what the match heard, or ends early', async () => {
    const lines = match.recording
    const index = lines.findIndex((line, n) => n > 50 && line.includes('"kind":"update"'))
    const other = lines.with(index, present(lines[index], 'line').replace('"seq":', '"seq":1'))
    expect((await flawIn({ recording: other.join('\n') }))[1]).toBe('the recording has something else at this place')
    expect((await flawIn({ recording: lines.slice(0, 60).join('\n') }))[1]).toBe('the recording ends before it')
  })

  it('[J10] a proof shows the lines of its owner, and of nobody else', async () => {
    const { id, userId, salt } = present(match.positions[40], 'position')
    const n = 1 + placeOf('open', 40)
    const proof = { matchId: match.matchId, positionId: id, userId, n, salt }
    const { position } = await verify({ ...evidence, recording: null, proof }, { digest: sha256 })
    expect(position.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['open', 'close']))
    expect(new Set(position.map((line) => line.id)).size).toBe(1)
    const stranger = present(
      match.positions.find((other) => other.userId !== userId),
      'position',
    )
    const stolen = { ...proof, userId: stranger.userId }
    expect(await flawIn({ recording: null, proof: stolen })).toEqual([n, 'the proof is not of its owner'])
    expect(await flawIn({ recording: null, proof: { ...proof, n: 1 } })).toEqual([
      1,
      'it opens no position, as the proof says',
    ])
    const text = match.tape.join()
    expect(match.positions.filter((one) => text.includes(one.userId))).toEqual([])
  })

  it('[J11] a tape that was signed cannot be changed, shortened or signed by another key', async () => {
    const signed: Checkpoint[] = []
    const keys = new Map<string, string>()
    const ends = [2_000, match.tape.length].map((n) => {
      const { hash: last }: { hash: string } = JSON.parse(present(match.tape[n - 1], 'line'))
      return { matchId: match.matchId, n, hash: last }
    })
    const pem = await newPrivateKeyPem()
    const signingKeys = await loadOrCreateKeys({ dataDir: '/nowhere', privateKeyPem: pem, keyId: null })
    const unsigned = {
      unsigned: async () =>
        ends.map(({ matchId, n }) => ({ matchId, hasEnded: false, signed: { n: n - 1, hash: '' } })),
      endOf: async ({ signed: { n: before } }: Unsigned) =>
        present(
          ends.find(({ n }) => n === before + 1),
          'end',
        ),
      sign: async (checkpoint: Checkpoint) => void signed.push(checkpoint),
      addKey: async ({ kid, publicKey }: { kid: string; publicKey: string }) => void keys.set(kid, publicKey),
    }
    expect(await new TapeSigner(signingKeys, unsigned, { now: () => instant(1_787_410_000_000) }).signAll()).toBe(2)
    const [early, last] = [present(signed[0], 'checkpoint'), present(signed[1], 'checkpoint')]
    const over = { recording: null, checkpoints: signed, keys }
    expect(await verify({ ...evidence, ...over }, { digest: sha256 })).toMatchObject({ checkpoints: 2 })
    const changed = rewritten(1_500, (line) => ({ ...line, note: 'forged' }))
    expect(await flawIn({ ...over, tape: changed })).toEqual([2_000, 'another line was signed at this place'])
    const short = match.tape.slice(0, -3).join('\n')
    expect((await flawIn({ ...over, tape: short }))[0]).toBe(match.tape.length - 2)
    const moved = { ...early, hash: last.hash }
    expect((await flawIn({ ...over, checkpoints: [moved] }))[1]).toBe('the signature of its checkpoint is not good')
    expect((await flawIn({ ...over, keys: new Map() }))[1]).toMatch(/^no key is known as/)
    expect((await flawIn({ ...over, checkpoints: [{ ...early, matchId: 9 }] }))[1]).toMatch(/^a checkpoint of match 9/)
  })
})
