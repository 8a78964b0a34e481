/**
 * An order whose outcome is not known yet keeps its key, also when the page is reloaded: only the same key finds out
 * what became of it, and a new one would be a second order.
 */
import { computed, signal } from '@preact/signals'
import { ApiError, newKey } from './client/ask.ts'
import type { OpenOrder } from './client/wire.ts'
import { user } from './session.ts'

export interface UnsureOrder {
  readonly userId: string
  readonly key: string
  readonly order: OpenOrder
}

const KEPT = 'touchline.order'
const kept = signal<UnsureOrder | null>(recalled())
/** The user's order that was sent, and whose outcome is not known. */
export const unsureOrder = computed(() => (kept.value?.userId === user.value?.userId ? kept.value : null))

/** To be called before the order is sent. */
export function holdOrder(order: OpenOrder): UnsureOrder {
  const held = { userId: user.peek()?.userId ?? '', key: newKey(), order }
  sessionStorage.setItem(KEPT, JSON.stringify(held))
  kept.value = held
  return held
}

/** To be called with the answer. */
export function releaseOrder(): void {
  sessionStorage.removeItem(KEPT)
  kept.value = null
}

/** Whether an order may have been carried out although this came back. */
export const isUnsure = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status === 0 || (error.status >= 500 && error.code !== 'BUSY')

function recalled(): UnsureOrder | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? 'null') as UnsureOrder | null
  } catch {
    return null
  }
}
