/**
 * Lists the names that a seed gives the clubs and players of a recording, and the hash that commits to both: what a
 * tournament has revealed can be checked with it.
 *
 *   npm run ops -- disguise <recording.jsonl.br> <seed>
 */
import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { playerId } from '../../actors/kernel/ids.ts'
import { instant } from '../../actors/kernel/world.ts'
import { disguiseOf } from '../../actors/replay/disguise.ts'
import { instrumentIdFor } from '../../src/provider/instrument-ids.ts'
import { parseFixture } from '../../src/provider/snapshot.ts'
import { loadRecording } from '../../src/replays/recordings.ts'

const { positionals } = parseArgs({ allowPositionals: true })
const [path = '', seed = ''] = positionals
if (path === '' || !/^[0-9a-f]{32}$/.test(seed)) {
  process.stderr.write('npm run ops -- disguise <recording.jsonl.br> <seed of 32 hexadecimal digits>\n')
  process.exit(2)
}
const recording = await loadRecording(path)
const { clubs, players } = disguiseOf(recording, seed, 0)
const last = parseFixture(recording.frames.at(-1), {
  instrumentIdOf: (id) => instrumentIdFor('disguise', id),
  receivedAt: instant(0),
})
const names = new Map(last.ok ? last.snapshot.players.map(({ playerId: id, name }) => [id, name]) : [])
const commitment = createHash('sha256')
  .update(`${seed} ${basename(path).split('.')[0]}`)
  .digest('hex')
process.stdout.write(`commitment ${commitment}\n${clubs.join(' vs ')} is ${recording.fixtureName}\n`)
for (const [id, { name }] of players) {
  process.stdout.write(`${name.padEnd(24)} ${names.get(playerId(Number(id))) ?? `player ${id}`}\n`)
}
