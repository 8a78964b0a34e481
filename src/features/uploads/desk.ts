/**
 * Takes recordings that operators bring from elsewhere. Each is checked in a thread of its own, one at a time: whatever
 * a file does to the memory or the time of its thread, no match waits for it.
 */
import { Worker } from 'node:worker_threads'
import type { UserId } from '../../../actors/kernel/ids.ts'
import type { UploadOutcome, Uploads } from './store.ts'
import type { Unchecked, UploadVerdict } from './check-worker.ts'
import type { Packing } from '../../replays/recordings.ts'

const MEGABYTES_MAX = 512
const WITHIN_MS = 60_000
const THREAD = new URL('check-worker.ts', import.meta.url)

export type AddedUpload =
  | UploadOutcome
  | { readonly kind: 'flawed'; readonly flaw: string }
  /** Another upload is being checked. */
  | { readonly kind: 'busy' }

interface UploadDeskOptions {
  readonly uploads: Pick<Uploads, 'add'>
  /** Names that are taken. */
  readonly bundled: readonly { readonly name: string }[]
}

export class UploadDesk {
  readonly #options: UploadDeskOptions
  #isBusy = false

  constructor(options: UploadDeskOptions) {
    this.#options = options
  }

  /** Keeps a recording, unless it has a flaw. */
  async add({ name, bytes, by }: { name: string; bytes: Uint8Array; by: UserId }): Promise<AddedUpload> {
    const { uploads, bundled } = this.#options
    if (bundled.some((one) => one.name === name)) return { kind: 'exists' }
    if (this.#isBusy) return { kind: 'busy' }
    this.#isBusy = true
    try {
      const verdict = await checked({ name, bytes, packing: packingIn(bytes) })
      if (verdict.kind === 'flawed') return verdict
      return await uploads.add(name, verdict.checked.summary, verdict.checked.data, by)
    } finally {
      this.#isBusy = false
    }
  }
}

/** Gzip has a mark; a line of JSON begins with a brace, which no brotli text of more than a few bytes does. */
function packingIn([first, second]: Uint8Array): Packing {
  if (first === 0x1f && second === 0x8b) return 'gzip'
  return first === 0x7b || first === undefined ? 'plain' : 'brotli'
}

async function checked(upload: Unchecked): Promise<UploadVerdict> {
  const thread = new Worker(THREAD, { workerData: upload, resourceLimits: { maxOldGenerationSizeMb: MEGABYTES_MAX } })
  try {
    return await verdictOf(thread)
  } finally {
    await thread.terminate()
  }
}

async function verdictOf(thread: Worker): Promise<UploadVerdict> {
  // It holds no process back that stops.
  thread.unref()
  const { promise, resolve, reject } = Promise.withResolvers<UploadVerdict>()
  const late = AbortSignal.timeout(WITHIN_MS)
  late.addEventListener('abort', () => resolve(flawed(`it takes longer than ${WITHIN_MS / 1_000} s to play`)))
  thread.once('message', (verdict: UploadVerdict) => resolve(verdict))
  thread.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve(flawed(`it takes more than ${MEGABYTES_MAX} MiB of memory`))
    else reject(error)
  })
  thread.once('exit', () => resolve(flawed('its check ended early')))
  return promise
}

const flawed = (flaw: string): UploadVerdict => ({ kind: 'flawed', flaw })
