/**
 * Makes the match of a tournament again, from its published seed, and compares it with what was played:
 *
 *   curl -o match.jsonl http://localhost:3000/api/public/tape/4000000017/recording
 *   npm run ops -- tournament-match <seed> match.jsonl
 *
 * It prints the hash that committed the house to the seed. The exit code is 1 if an update is another one.
 */
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { instant, SECOND_MS } from '../../actors/kernel/world.ts'
import { commitmentTo } from '../../src/http/commitment.ts'
import { loadRecording } from '../../src/replays/recordings.ts'
import { tournamentMatch } from '../../src/replays/tournament-match.ts'

const { positionals } = parseArgs({ allowPositionals: true })
const [seed = '', path = ''] = positionals
if (path === '' || !/^[0-9a-f]{64}$/.test(seed)) {
  process.stderr.write('npm run ops -- tournament-match <seed of 64 hexadecimal digits> <recording.jsonl>\n')
  process.exit(2)
}
const played = (await loadRecording(path)).frames.map((frame) => JSON.stringify(frame))
const first = z.object({ starting_at_timestamp: z.int() }).parse(JSON.parse(played[0] ?? '{}'))
const startsAt = instant(first.starting_at_timestamp * SECOND_MS)
const { fixtureName, frames } = await tournamentMatch({ seed, startsAt })
const made = frames.map((frame) => JSON.stringify(frame))
// It was played from its kick-off on.
const kickOff = made.findIndex((frame) => frame === played[0])
const different = played.findIndex((frame, n) => kickOff < 0 || frame !== made[kickOff + n])

process.stdout.write(`commitment ${commitmentTo(seed)}\n${fixtureName}\n`)
if (different >= 0) {
  process.stdout.write(`update ${different + 1} of ${played.length} is not the one that this seed gives\n`)
  process.exit(1)
}
process.stdout.write(`all ${played.length} updates are those that this seed gives\n`)
