/** Plays a part of a season in a thread of its own. */
import { parentPort, workerData } from 'node:worker_threads'
import { present } from '../../../actors/kernel/assert.ts'
import { type Part, playSource, type Report } from './season.ts'

const port = present(parentPort, 'thread that asks')
for (const { place, source, mode } of workerData as readonly Part[]) {
  const report: Report = { place, result: await playSource(source, mode) }
  port.postMessage(report)
}
