import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEFAULT_MODEL, type ScoringModel } from '../../actors/market/pricing.ts'
import { MODEL_VERSION } from '../../actors/market/scoring.ts'
import { pastRecordings } from '../../ops/replays/past-recordings.ts'
import { check, play, type Played, PublishedFile, readPublished, textOf } from '../../ops/verify/published-prices.ts'
import type { Recording } from '../../actors/replay/recording.ts'

const ROOT = join(import.meta.dirname, '../..')
const GENERATED = 2

const recordings: readonly Recording[] = await Array.fromAsync(pastRecordings(GENERATED))
const recorded = (name: string): Recording => {
  const found = recordings.find((one) => one.name === name)
  if (found === undefined) throw new Error(`there is no recording ${name}`)
  return found
}
const withBase = (change: Partial<ScoringModel['base']>): ScoringModel => ({
  ...DEFAULT_MODEL,
  base: { ...DEFAULT_MODEL.base, ...change },
})

describe('the prices of the past', () => {
  it('[J6] recordings have the prices that were published', async () => {
    const file = await readPublished()
    expect(file.recordings.length).toBe(103)
    expect(await check(file, recordings)).toEqual({ flaws: [], moved: 0, played: 3 + GENERATED })
  })

  it('[J6] the changelog names the version of the price model', async () => {
    expect(await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8')).toContain(`Price model ${MODEL_VERSION}:`)
  })

  it.each([
    ['slow-burner', 'the worth of a tackle', withBase({ tackle: 0.1501 })],
    ['goal-feast', 'the bound', { ...DEFAULT_MODEL, bound: 0.3501 }],
  ])(
    '[J6] of %s, a change of %s is found in its first update and player',
    async (name, _, model) => {
      const before = play(recorded(name))
      let after = before
      const noted = (played: Played): void => {
        after = played
      }
      const { flaws, moved: count } = await check(await readPublished(), [recorded(name)], noted, model)
      let first = Infinity
      for (const [id, { prices }] of after.paths) {
        const at = prices.findIndex((one, n) => one !== before.paths.get(id)?.prices[n])
        if (at !== -1) first = Math.min(first, at)
      }
      const moved = [...after.paths].filter(([id, { prices }]) => prices[first] !== before.paths.get(id)?.prices[first])
      expect(moved.length).toBeGreaterThan(0)
      const lowest = moved.map(([id]) => id).toSorted((a, b) => a - b)[0]
      expect(count).toBe(1)
      expect(flaws).toHaveLength(1)
      expect(flaws[0]).toContain(`${name}, update ${first + 1} of`)
      expect(flaws[0]).toContain(`(${lowest}, now`)
    },
    120_000,
  )

  it('[J6] of a generated match a change is found in its first update, with the players of its span', async () => {
    const { flaws } = await check(await readPublished(), [recorded('generated-2')], undefined, withBase({ goal: 2.41 }))
    expect(flaws).toHaveLength(1)
    expect(flaws[0]).toMatch(/^generated-2, update \d+ of \d+: the prices differ of .*\(within 32 updates\)$/)
  })

  it('[J6] another version, another match and a recording that is not published are each said', async () => {
    const file = await readPublished()
    const recording = recorded('generated-1')
    const later = { ...file, modelVersion: file.modelVersion + 1 }
    expect((await check(later, [])).flaws).toEqual([expect.stringContaining('model version')])
    const shorter = { ...recording, frames: recording.frames.slice(0, -1) }
    expect(await check(file, [shorter])).toMatchObject({ flaws: [expect.stringContaining('is not the one')], moved: 0 })
    const unknown = { ...recording, name: 'unknown', frames: [] }
    expect((await check(file, [unknown])).flaws).toEqual(['unknown: nothing is published about it'])
    expect(PublishedFile.parse(JSON.parse(textOf(file)))).toEqual(file)
  })
})
