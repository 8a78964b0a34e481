import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chanceFrom } from '../../actors/replay/chance.ts'
import { frameDue, frameIntervalMs } from '../../actors/replay/recording.ts'
import { changed } from '../../actors/replay/json-patch.ts'
import { listRecordings, loadRecording } from '../../src/replays/recordings.ts'

describe('recordings', () => {
  let directory = ''
  const frames = [
    { id: 1, name: 'A vs B', rows: [{ n: 1 }, { n: 2 }], none: null },
    { id: 1, name: 'A vs B', rows: [{ n: 1 }, { n: 3 }], none: null },
    { id: 1, name: 'A vs B', rows: [{ n: 1 }], extra: [] },
  ]
  const text = frames.map((f) => JSON.stringify(f)).join('\n')
  const header = JSON.stringify({ recording: { name: 'derby', title: 'The derby', seed: 4 } })

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'recordings-'))
    await writeFile(join(directory, 'plain.jsonl'), text)
    await writeFile(join(directory, 'zipped.jsonl.gz'), gzipSync(`${text}\n`))
    await writeFile(join(directory, 'derby.jsonl.br'), brotliCompressSync(`${header}\n${text}\n`))
    await writeFile(join(directory, 'notes.md'), 'not a recording')
  })
  afterAll(() => rm(directory, { recursive: true }))

  it('are found by name and read plain, gzipped or brotli-packed, with or without a header', async () => {
    const found = await listRecordings(directory)
    expect(found.map((r) => r.name)).toEqual(['derby', 'plain', 'zipped'])
    expect(await listRecordings(join(directory, 'nowhere'))).toEqual([])
    const read = await Promise.all(found.map((r) => loadRecording(r.path)))
    expect(read.map((r) => [r.name, r.title, r.fixtureName])).toEqual([
      ['derby', 'The derby', 'A vs B'],
      ['plain', 'A vs B', 'A vs B'],
      ['zipped', 'A vs B', 'A vs B'],
    ])
    for (const recording of read) expect(recording.frames.map((f) => JSON.stringify(f))).toEqual(text.split('\n'))
    await expect(loadRecording(join(directory, 'notes.md'))).rejects.toThrow('not a recording')
  })

  it('keep what does not change from frame to frame once in memory', async () => {
    const [one, two] = (await loadRecording(join(directory, 'plain.jsonl'))).frames as (typeof frames)[number][]
    expect(one?.rows[0]).toBe(two?.rows[0])
    expect(one?.rows[1]).not.toEqual(two?.rows[1])
  })

  it('may have what changed in place of the line before', async () => {
    const path = join(directory, 'changes.jsonl')
    const changes = frames.map((frame, n) => (n === 0 ? frame : changed(frames[n - 1], frame)))
    await writeFile(path, changes.map((line) => JSON.stringify(line)).join('\n'))
    const read = await loadRecording(path)
    expect(read.frames.map((f) => JSON.stringify(f))).toEqual(text.split('\n'))
    const [one, two] = read.frames as (typeof frames)[number][]
    expect(one?.rows[0]).toBe(two?.rows[0])
    for (const flawed of ['[1,4,[0,1]]', '[1,1e9,[0,1]]', '[1,2,[2,2]]', '[1,0,7]', '[1,"x",[0,1]]']) {
      await writeFile(path, `${JSON.stringify(frames[0])}\n${flawed}`)
      await expect(loadRecording(path), flawed).rejects.toThrow('line 2 is a list, but not what changed')
    }
    await writeFile(path, '[1,0,[0,1]]')
    await expect(loadRecording(path)).rejects.toThrow('line 1 is a list, but not what changed')
    await rm(path)
  })

  it('are read in turns with whatever else there is to do', async () => {
    const count = 80
    const path = join(directory, 'long.jsonl')
    await writeFile(path, Array.from({ length: count }, (_, n) => JSON.stringify({ name: 'A vs B', n })).join('\n'))
    let turns = 0
    let isRead = false
    const somebodyElse = (): void => {
      turns++
      if (!isRead) setImmediate(somebodyElse)
    }
    const reading = loadRecording(path)
    somebodyElse()
    expect((await reading).frames).toHaveLength(count)
    isRead = true
    await rm(path)
    expect(turns).toBeGreaterThanOrEqual(count / 8)
  })

  it('play at any speed: the newest due frame, none past the end', () => {
    const recording = { frames: [0, 1, 2, 3] }
    expect([0, 9_999, 10_000, 25_000, 1e9, -5].map((ms) => frameDue(recording, ms, 1))).toEqual([0, 0, 1, 2, 3, 0])
    expect([0, 249, 250, 600].map((ms) => frameDue(recording, ms, 40))).toEqual([0, 0, 1, 2])
    expect([frameIntervalMs(1), frameIntervalMs(40)]).toEqual([10_000, 250])
  })
})

it('seeded chance is uniform enough and draws what it is asked for', () => {
  const chance = chanceFrom(9)
  const draws = Array.from({ length: 20_000 }, () => chance.uniform())
  expect(draws.every((d) => d >= 0 && d < 1)).toBe(true)
  expect(draws.reduce((a, b) => a + b, 0) / draws.length).toBeCloseTo(0.5, 1)
  const times = Array.from({ length: 20_000 }, () => chance.times(0.3)).reduce((a, b) => a + b, 0) / 20_000
  expect(times).toBeCloseTo(0.3, 1)
  const picks = Array.from({ length: 4_000 }, () =>
    chance.pick(['a', 'b', 'c'], (x) => (x === 'b' ? 3 : x === 'c' ? 1 : 0)),
  )
  expect(picks.filter((x) => x === 'b').length / 4_000).toBeCloseTo(0.75, 1)
  expect(picks).not.toContain('a')
  expect(chance.pick([], () => 1)).toBeNull()
})
