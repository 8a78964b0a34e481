/** Parts of the page whose files are loaded when they are shown, or before. */
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { html } from '../html.ts'
import { words } from '../words.ts'

/** While a part is shown and the network fails. */
const AGAIN_MS = 3_000
/** A network that fails for a moment is waited for. */
const FAILURES_MAX = 5

/** Loads once; after a failure again, for as long as it is shown. Shown a second time it is there at once. */
export function lazy<P extends object>(from: () => Promise<ComponentType<P>>) {
  const loaded = signal<ComponentType<P> | null>(null)
  const failures = signal(0)
  let loading: Promise<void> | null = null
  const load = (): Promise<void> =>
    (loading ??= from().then(
      (Part) => void (loaded.value = Part),
      () => {
        loading = null
        failures.value++
      },
    ))
  const Part = (props: P) => {
    const Known = loaded.value
    useEffect(() => {
      if (Known !== null) return
      void load()
      const again = setInterval(() => void load(), AGAIN_MS)
      return () => clearInterval(again)
    }, [Known])
    if (Known !== null) return html`<${Known} ...${props} />`
    // After a release its file is no longer there.
    return failures.value < FAILURES_MAX
      ? html`<p class="loading" aria-busy="true">${words.common.loading}</p>`
      : html`<p class="trouble empty" role="alert">${words.errors.page}</p>`
  }
  return { Part, load }
}

/** `load` is called once. */
export function Loaded({ load }: { load: () => Promise<ComponentType> }) {
  const part = parts.get(load) ?? lazy(load)
  parts.set(load, part)
  return html`<${part.Part} />`
}

const parts = new WeakMap<() => Promise<ComponentType>, ReturnType<typeof lazy>>()
