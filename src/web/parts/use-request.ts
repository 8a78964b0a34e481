/** Requests that a page makes when it opens, and again when something it depends on changes. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../client/ask.ts'
import { html } from '../html.ts'
import { messageFor } from '../error-messages.ts'
import { words } from '../words.ts'

const AGAIN_MS = 5_000
/** The wait doubles at most this often, to more than a minute: a server that fails has a crowd of pages before it. */
const DOUBLED_MAX = 4
/** Failures that pass: of the network, of the server, and too many requests in a minute. */
const mayPass = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status === 0 || error.status === 429 || error.status >= 500

export interface Request<Answer> {
  /** Null until it arrives. */
  readonly answer: Answer | null
  readonly trouble: string | null
  readonly again: () => void
}

/**
 * After a failure of the network or of the server it asks again, for as long as it is shown.
 * @param dependencies What the answer is about: with others it is gone.
 * @param repeats What lets the answer change. It stays until the new one is there.
 */
export function useRequest<Answer>(
  ask: () => Promise<Answer>,
  dependencies: readonly unknown[] = [],
  repeats: readonly unknown[] = [],
): Request<Answer> {
  const [got, setGot] = useState<{ readonly answer: Answer; readonly about: readonly unknown[] } | null>(null)
  const [trouble, setTrouble] = useState<string | null>(null)
  const [turn, setTurn] = useState(0)
  const failures = useRef(0)
  useEffect(() => {
    let isWanted = true
    let later: ReturnType<typeof setTimeout> | undefined
    ask().then(
      (found) => {
        if (!isWanted) return
        failures.current = 0
        setGot({ answer: found, about: dependencies })
        setTrouble(null)
      },
      (error: unknown) => {
        if (!isWanted) return
        setTrouble(messageFor(error))
        if (!mayPass(error)) return
        const wait = AGAIN_MS * 2 ** Math.min(failures.current++, DOUBLED_MAX) * (0.5 + Math.random())
        later = setTimeout(() => setTurn((n) => n + 1), wait)
      },
    )
    return () => {
      isWanted = false
      clearTimeout(later)
    }
  }, [...dependencies, ...repeats, turn])
  const answer = got !== null && dependencies.every((one, n) => one === got.about[n]) ? got.answer : null
  return { answer, trouble, again: () => setTurn((n) => n + 1) }
}

/** Repeats a request at this interval while the page is visible. */
export function useRepeated(again: () => void, everyMs: number): void {
  const latest = useRef(again)
  latest.current = again
  useEffect(() => {
    const repeating = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current()
    }, everyMs)
    return () => clearInterval(repeating)
  }, [])
}

/** A placeholder for an answer that has not arrived. */
export const Waiting = ({ trouble }: { trouble: string | null }) =>
  trouble === null
    ? html`<p class="empty" aria-busy="true">${words.common.loading}</p>`
    : html`<p class="trouble empty" role="alert">${trouble}</p>`
