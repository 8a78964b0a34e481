/** What a page asks for when it opens, and again when something it depends on changes. */
import { useEffect, useState } from 'preact/hooks'
import { html } from '../html.ts'
import { wordsFor } from '../words.ts'

export interface Asked<Answer> {
  /** Null until it is there. */
  readonly answer: Answer | null
  readonly trouble: string | null
  readonly again: () => void
}

export function useAsked<Answer>(ask: () => Promise<Answer>, dependencies: readonly unknown[] = []): Asked<Answer> {
  const [answer, setAnswer] = useState<Answer | null>(null)
  const [trouble, setTrouble] = useState<string | null>(null)
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    let isWanted = true
    ask().then(
      (found) => {
        if (!isWanted) return
        setAnswer(found)
        setTrouble(null)
      },
      (error: unknown) => {
        if (isWanted) setTrouble(wordsFor(error))
      },
    )
    return () => (isWanted = false)
  }, [...dependencies, turn])
  return { answer, trouble, again: () => setTurn((n) => n + 1) }
}

/** Asks again every so often while the page can be seen. */
export function useRepeated(again: () => void, everyMs: number): void {
  useEffect(() => {
    const repeating = setInterval(() => {
      if (document.visibilityState === 'visible') again()
    }, everyMs)
    return () => clearInterval(repeating)
  }, [])
}

/** In the place of an answer that is not there. */
export const Waiting = ({ trouble }: { trouble: string | null }) =>
  trouble === null
    ? html`<p class="empty" aria-busy="true">Fetching…</p>`
    : html`<p class="trouble empty" role="alert">${trouble}</p>`
