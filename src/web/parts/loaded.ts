/** A part of the page whose file is loaded when it is shown. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { html } from '../html.ts'
import { words } from '../words.ts'

/** `load` is called once. */
export function Loaded({ load }: { load: () => Promise<ComponentType> }) {
  const [Part, setPart] = useState<ComponentType | null>(null)
  useEffect(() => {
    load()
      .then((loaded) => setPart(() => loaded))
      .catch(() => undefined)
  }, [])
  return Part === null ? html`<p class="loading" aria-busy="true">${words.common.loading}</p>` : html`<${Part} />`
}
