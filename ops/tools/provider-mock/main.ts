/**
 * Rehearses a match day: plays recordings in the live provider's format, as the live provider would.
 *
 *   npm run ops -- provider-mock <recording>… [--speed 1] [--port 4000] [--token rehearsal] [--fixture 1]
 *     [--troubles] [--seed 1]
 *
 * All recordings kick off at once, as fixture `--fixture` and the numbers after it. Use other numbers for another day:
 * a settled match is not played again. With `--troubles` every kind of disturbance is in the recordings, at places that
 * `--seed` draws, and the connection fails for a third of each minute, in a different way each time.
 */
import { parseArgs } from 'node:util'
import type { Recording } from '../../../actors/replay/recording.ts'
import { loadRecording } from '../../../src/replays/recordings.ts'
import { refuse, whole } from '../../rehearse/rig/options.ts'
import { disturb, DISTURBANCES } from './disturbances.ts'
import { type Trouble, startMock, TROUBLES } from './mock.ts'

const { values: options, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: {
    speed: { type: 'string', default: '1' },
    port: { type: 'string', default: '4000' },
    token: { type: 'string', default: 'rehearsal' },
    fixture: { type: 'string', default: '1' },
    troubles: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
  },
})
if (paths.length === 0) refuse('name a recording: npm run ops -- provider-mock ops/replays/cup-night.jsonl.br')
const speed = Number(options.speed)
if (!(speed > 0 && speed <= 10_000)) refuse(`--speed must be a number up to 10000; it is '${options.speed}'`)
const port = whole('port', options.port, 0, 65_535)
const firstFixture = whole('fixture', options.fixture, 1)
const firstSeed = whole('seed', options.seed, 0)

const TROUBLE_EVERY_MS = 60_000
const TROUBLE_FOR_MS = 20_000
const startedAt = Date.now()
const loaded = await Promise.all(paths.map(loadRecording))
const recordings = options.troubles ? loaded.map(disturbed) : loaded

function disturbed(recording: Recording, n: number): Recording {
  return { ...recording, frames: disturb(recording.frames, { seed: firstSeed + n, kinds: DISTURBANCES }).frames }
}

/** In the last third of each minute, the next trouble of the list. */
function trouble(): Trouble | null {
  const elapsed = Date.now() - startedAt
  if (!options.troubles || elapsed % TROUBLE_EVERY_MS < TROUBLE_EVERY_MS - TROUBLE_FOR_MS) return null
  return TROUBLES[Math.floor(elapsed / TROUBLE_EVERY_MS) % TROUBLES.length] ?? null
}

const mock = await startMock(
  {
    matches: recordings.map((recording, n) => ({
      recording,
      fixtureId: firstFixture + n,
      startsAt: startedAt,
    })),
    clock: () => startedAt + (Date.now() - startedAt) * speed,
    trouble,
    token: options.token,
    callsLeft: () => null,
  },
  port,
)
for (const { title, frames } of recordings)
  console.log(`${title}: ${frames.length} frames, ${speed} times as fast as life`)
console.log(`\nPROVIDER_URL=${mock.url} PROVIDER_TOKEN=${options.token} PROVIDER_POLL_MS=${pollMs(speed)} npm start`)

/** One poll per frame, at most twenty per second. */
function pollMs(times: number): number {
  return Math.max(50, Math.round(10_000 / times))
}
