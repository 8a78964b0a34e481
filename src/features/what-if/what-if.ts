/** Tries settings on recordings in a thread of its own, so that no running match waits: one question at a time. */
import { Worker } from 'node:worker_threads'
import { ALL_OPEN } from '../../../actors/kernel/trading-mode.ts'
import type { PriceRules } from '../../../actors/match/rule-change.ts'
import type { RecordingLibrary, StoredRecording } from '../../replays/library.ts'
import type { Comparison } from './play.ts'

/** What the thread is asked. */
export interface Asked {
  readonly recordings: readonly StoredRecording[]
  readonly was: PriceRules
  readonly would: PriceRules
  readonly seed: number
}

export type Told = Comparison[]

export interface WhatIfQuestion {
  /** Names of recordings of the library. */
  readonly recordings: readonly string[]
  readonly was: PriceRules
  readonly would: PriceRules
  /** Of the chance of the traders. */
  readonly seed: number
}

export type WhatIfOutcome =
  | { readonly kind: 'played'; readonly matches: readonly (Comparison & { readonly recording: string })[] }
  | { readonly kind: 'unknown_recording'; readonly name: string }
  /** Another question is being answered. */
  | { readonly kind: 'busy' }
  /** It took too long, or its client had gone. */
  | { readonly kind: 'stopped' }

interface WhatIfOptions {
  readonly library: Pick<RecordingLibrary, 'find'>
  /** How long one question may take. */
  readonly withinMs: number
}

const MEGABYTES_MAX = 512
const THREAD = new URL('worker.ts', import.meta.url)

export class WhatIf {
  readonly #options: WhatIfOptions
  #isBusy = false

  constructor(options: WhatIfOptions) {
    this.#options = options
  }

  /** Rejects with an error of the thread. An aborted question ends its thread. */
  async ask({ recordings, was, would, seed }: WhatIfQuestion, signal: AbortSignal): Promise<WhatIfOutcome> {
    if (this.#isBusy) return { kind: 'busy' }
    this.#isBusy = true
    try {
      const stored: StoredRecording[] = []
      for (const name of recordings) {
        const found = await this.#options.library.find(name)
        if (found === null) return { kind: 'unknown_recording', name }
        stored.push(found)
      }
      if (signal.aborted) return { kind: 'stopped' }
      const told = await this.#play({ recordings: stored, was: open(was), would: open(would), seed }, signal)
      if (told === null) return { kind: 'stopped' }
      return { kind: 'played', matches: told.map((one, n) => ({ recording: recordings[n] ?? '', ...one })) }
    } finally {
      this.#isBusy = false
    }
  }

  async #play(asked: Asked, signal: AbortSignal): Promise<Told | null> {
    const thread = new Worker(THREAD, {
      workerData: asked,
      resourceLimits: { maxOldGenerationSizeMb: MEGABYTES_MAX },
    })
    // It holds no process back that stops.
    thread.unref()
    const stopped = AbortSignal.any([signal, AbortSignal.timeout(this.#options.withinMs)])
    const { promise, resolve, reject } = Promise.withResolvers<Told | null>()
    const stop = (): void => resolve(null)
    stopped.addEventListener('abort', stop, { once: true })
    thread.once('message', (told: Told) => resolve(told))
    thread.once('error', reject)
    thread.once('exit', stop)
    try {
      return await promise
    } finally {
      stopped.removeEventListener('abort', stop)
      await thread.terminate()
    }
  }
}

/** Who may trade is not tried: with a brake on there would be nothing to compare. */
const open = ({ rules, model }: PriceRules): PriceRules => ({ rules: { ...rules, modes: ALL_OPEN }, model })
