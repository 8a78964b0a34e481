import { brotliCompressSync, gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { instant } from '../../actors/kernel/world.ts'
import type { Upload, UploadOutcome } from '../../src/features/uploads/store.ts'
import { checkRecording } from '../../src/features/uploads/check.ts'
import { readStored } from '../../src/replays/library.ts'
import { type Packing, RecordingFlaw } from '../../src/replays/recordings.ts'
import { UploadDesk } from '../../src/features/uploads/desk.ts'
import { U } from '../support/fixtures.ts'
import { shortLines } from '../support/short-recordings.ts'

/** A desk, and what it keeps. */
function openDesk() {
  const kept: { readonly upload: Upload; readonly data: Uint8Array }[] = []
  const desk = new UploadDesk({
    bundled: [{ name: 'goal-feast' }],
    uploads: {
      add: async (name, summary, data): Promise<UploadOutcome> => {
        const upload = { ...summary, name, id: name, bytes: data.length, at: instant(0) }
        kept.push({ upload, data })
        return { kind: 'kept', upload }
      },
    },
  })
  const add = (bytes: Uint8Array | string, name = 'derby') => desk.add({ name, bytes: Buffer.from(bytes), by: U(1) })
  return { add, kept }
}

/** Two hundred megabytes. */
const zeros = gzipSync(Buffer.alloc(200 * 1024 * 1024))

describe('an upload', () => {
  let text: string
  let lines: readonly string[]
  beforeAll(async () => {
    lines = await shortLines('goal-feast')
    text = lines.join('\n')
  })

  it('[J12] is kept as it plays, whether plain or packed, and says what it is about', async () => {
    const start = lines.slice(0, 4).join('\n')
    for (const bytes of [start, brotliCompressSync(start), gzipSync(text)]) {
      const { add, kept } = openDesk()
      expect(await add(bytes)).toMatchObject({ kind: 'kept' })
      if (kept[0]?.upload.updates !== lines.length - 1) continue
      const { upload, data } = present(kept[0], 'upload')
      expect(upload).toMatchObject({ title: 'Goal feast with a red card', updates: lines.length - 1, name: 'derby' })
      expect([upload.home.name, upload.away.name, upload.home.goals]).toEqual([
        expect.any(String),
        expect.any(String),
        expect.any(Number),
      ])
      expect(upload.players).toBeGreaterThan(21)
      expect(upload.chart).toHaveLength(3)
      for (const { prices } of upload.chart) {
        expect(prices.length).toBeGreaterThan(30)
        expect(Math.max(...prices) / Math.min(...prices)).toBeGreaterThan(1.1)
      }
      const again = await readStored({ name: 'derby', bytes: data, packing: 'brotli' })
      expect(again.frames.map((frame) => JSON.stringify(frame))).toEqual(lines.slice(1))
    }
  })

  const deep = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
  const other = () => (lines[9] ?? '').replace(/^\{"id":\d+/, '{"id":77')
  const update = (over: object): string => JSON.stringify({ ...(JSON.parse(lines[8] ?? '') as object), ...over })
  /** An update padded with this many characters, and a line that changes the list that pads it. */
  const padded = (chars: number, change: string) =>
    `${update({ pad: ['x'.repeat(chars)] })}\n[1,${Object.keys(JSON.parse(lines[8] ?? '') as object).length},${change}]`
  /** A line of a download, whose payload alone would be such a line too. */
  const heard = () => `{"kind":"update","at":1,"payload":${update({ kind: 'clock', at: 1 })}}`
  const headed = (head: string) => `{"recording":${head}}\n${lines[8]}\n${lines[9]}`
  it.each<readonly [string, Packing, () => Uint8Array | string, RegExp]>([
    ['nothing', 'plain', () => '', /^it has 0 updates/],
    ['no text', 'plain', () => Buffer.from([0x7b, 0xff, 0xfe, 0xfd]), /^it is not text in UTF-8$/],
    ['no JSON', 'plain', () => `${lines[1]}\n{"a":`, /^line 2 is not JSON$/],
    ['packed nonsense', 'brotli', () => Buffer.from('5b80ffff00aa5500', 'hex'), /^it cannot be unpacked$/],
    ['half of a packed file', 'gzip', () => gzipSync(text).subarray(0, 20_000), /^it cannot be unpacked$/],
    ['a bomb of zeros', 'gzip', () => zeros, /^(a line has more than|it unpacks to more)/],
    ['a bomb of lines', 'gzip', () => gzipSync('{}\n'.repeat(10_100)), /^it has more than 10000 lines$/],
    ['a bomb of empty lines', 'gzip', () => gzipSync('\n'.repeat(10_100)), /^it has more than 10000 lines$/],
    ['a deep line', 'plain', () => `${deep}\n${deep}`, /nested too deeply|cannot be read/],
    ['other payloads', 'plain', () => '{"a":1}\n{"a":2}', /^update 1 cannot be read: /],
    ['two matches', 'plain', () => [lines[8], other()].join('\n'), /^update 2 is of another match than the first$/],
    ['one update', 'plain', () => lines[8] ?? '', /^it has 1 updates; it may have 2 to 5000$/],
    ['a line that grows', 'plain', () => padded(300_000, '[2,0,0]'), /^a line has more than 524288 characters$/],
    [
      'lines that grow',
      'plain',
      () => padded(450_000, '[1]') + '\n[1]'.repeat(300),
      /^it unpacks to more than 128 MiB$/,
    ],
    ['a long name', 'plain', () => `${update({ name: 'x'.repeat(121) })}\n${lines[9]}`, /^line 1, the head: /],
    ['updates lost when kept', 'plain', () => `${heard()}\n${heard()}`, /^it has 0 updates/],
    ['a strange head', 'plain', () => headed('{"title":7}'), /^line 1, the head: /],
    ['an endless price', 'plain', () => headed('{"anchors":{"1":1e300}}'), /^line 1, the head: /],
  ])('[J12] of %s is refused with its reason', async (_, packing, bytes, reason) => {
    const checked = readStored({ name: 'derby', bytes: Buffer.from(bytes()), packing }).then(checkRecording)
    await expect(checked).rejects.toThrow(RecordingFlaw)
    await expect(checked).rejects.toThrow(reason)
  })

  it('[J12] with a flaw is not kept, and the next one is none the worse', async () => {
    const { add, kept } = openDesk()
    expect(await add(zeros)).toEqual({ kind: 'flawed', flaw: expect.stringMatching(/unpacks to more|a line has/) })
    expect(kept).toEqual([])
    expect(await add([lines[8], lines[9]].join('\n'))).toMatchObject({ kind: 'kept' })
  })

  it('[J12] waits for no other: one is checked at a time, and a bundled name is taken', async () => {
    const { add } = openDesk()
    const two = [lines[8], lines[9]].join('\n')
    expect(await add(two, 'goal-feast')).toEqual({ kind: 'exists' })
    const [first, second] = await Promise.all([add(two), add(two)])
    expect([first.kind, second.kind]).toEqual(['kept', 'busy'])
  })

  it('[J12] does not hold up the process while it is checked', async () => {
    const { add } = openDesk()
    let isDone = false
    let turns = 0
    const turn = (): void => {
      turns += 1
      if (!isDone) setImmediate(turn)
    }
    const adding = add(text)
    turn()
    await adding
    isDone = true
    expect(turns).toBeGreaterThan(1_000)
  })
})
