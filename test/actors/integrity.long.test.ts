/** What the search for cheats finds in a whole match. */
import { expect, it } from 'vitest'
import { liveIn } from '../../ops/tools/integrity/town.ts'
import { watch } from '../../ops/tools/integrity/watch.ts'
import { recordedMatch } from '../../ops/tools/market/league.ts'
import { loadRecording } from '../../src/replays/recordings.ts'

it('[C5] of cheats among 500 honest traders in a recording 95 % are found within a minute, of the honest 1 % at most', async () => {
  const seen = watch(await liveIn(recordedMatch(await loadRecording('ops/replays/goal-feast.jsonl.br')), 1))
  expect(seen.cheats).toBeGreaterThan(80)
  expect(seen.honest).toBe(500)
  expect(seen.found).toBeGreaterThanOrEqual(seen.cheats * 0.95)
  expect(seen.falseAlarms).toBeLessThanOrEqual(5)
})
