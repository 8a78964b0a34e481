/** A ring that fills while something waits. */
import { html } from '../html.ts'

/** `done`: from 0 to 1. */
export const Ring = ({ done }: { done: number }) =>
  html`<span class="ring" style=${{ '--done': `${Math.round(100 * done)}%` }}></span>`
