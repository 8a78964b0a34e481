/** Checks one upload, in a thread of its own. */
import { parentPort, workerData } from 'node:worker_threads'
import { present } from '../../../actors/kernel/assert.ts'
import { type Checked, checkRecording } from './check.ts'
import { readStored, type StoredRecording } from '../../replays/library.ts'
import { RecordingFlaw } from '../../replays/recordings.ts'

/** What the thread is asked. */
export type Unchecked = Omit<StoredRecording, 'version'>

export type UploadVerdict =
  | { readonly kind: 'good'; readonly checked: Checked }
  | { readonly kind: 'flawed'; readonly flaw: string }

async function verdictOf(upload: Unchecked): Promise<UploadVerdict> {
  try {
    return { kind: 'good', checked: await checkRecording(await readStored(upload)) }
  } catch (error) {
    if (error instanceof RecordingFlaw) return { kind: 'flawed', flaw: error.message }
    return { kind: 'flawed', flaw: `it cannot be played: ${error instanceof Error ? error.message : String(error)}` }
  }
}

const port = present(parentPort, 'thread that asks')
port.postMessage(await verdictOf(workerData as Unchecked))
