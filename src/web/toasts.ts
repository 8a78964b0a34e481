/** Short messages in the corner that disappear after six seconds. */
import { type ReadonlySignal, signal } from '@preact/signals'

export interface Toast {
  readonly id: number
  readonly tone: 'plain' | 'good' | 'bad'
  /** A signal where it names what may still be asked for. */
  readonly title: string | ReadonlySignal<string>
  readonly text: string
  /** The view that shows more of it. */
  readonly to?: string
  /** What the user can do about it; the message then stays until it is dismissed. */
  readonly action?: { readonly label: string; readonly run: () => void }
}

const STAY_MS = 6_000
const SHOWN_MAX = 4

export const toasts = signal<readonly Toast[]>([])
let count = 0

export function toast(news: Omit<Toast, 'id'>): void {
  const id = ++count
  toasts.value = [...toasts.peek(), { ...news, id }].slice(-SHOWN_MAX)
  if (news.action === undefined) setTimeout(() => dismiss(id), STAY_MS)
}

/** They are about the user who was signed in. */
export function forgetToasts(): void {
  toasts.value = []
}

export function dismiss(id: number): void {
  toasts.value = toasts.peek().filter((shown) => shown.id !== id)
}
