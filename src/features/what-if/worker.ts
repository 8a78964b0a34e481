/** Plays recordings under two sets of settings, in a thread of its own. */
import { parentPort, workerData } from 'node:worker_threads'
import { present } from '../../../actors/kernel/assert.ts'
import { recordedMatch } from '../../match-run/recorded-match.ts'
import { readStored } from '../../replays/library.ts'
import { compare } from './play.ts'
import type { Asked, Told } from './what-if.ts'

const port = present(parentPort, 'thread that asks')
const { recordings, was, would, seed } = workerData as Asked
const told: Told = []
for (const stored of recordings) {
  told.push(await compare(recordedMatch(await readStored(stored), 'what-if'), { was, would, seed }))
}
port.postMessage(told)
