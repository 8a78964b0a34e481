/**
 * An order whose outcome is not known yet keeps its key, also when the page is reloaded: only the same key finds out
 * what became of it, and a new one would be a second order.
 */
import { computed, signal } from '@preact/signals'
import { ApiError, isNoAnswer, newKey } from './client/ask.ts'
import type { OpenOrder } from './client/wire.ts'
import { user } from './session.ts'
import { visit } from './storage.ts'

export interface UnsureOrder {
  readonly userId: string
  readonly key: string
  readonly order: OpenOrder
  /** When it was sent, by the clock of this device: the server's may be put forward by the next answer. */
  readonly at: number
}

const KEPT = 'touchline.order'
const kept = signal<UnsureOrder | null>(recalled())
/** The user's order that was sent, and whose outcome is not known. */
export const unsureOrder = computed(() => (kept.value?.userId === user.value?.userId ? kept.value : null))

/** To be called before the order is sent. */
export function holdOrder(order: OpenOrder): UnsureOrder {
  const held = { userId: user.peek()?.userId ?? '', key: newKey(), order, at: Date.now() }
  visit.set(KEPT, JSON.stringify(held))
  kept.value = held
  return held
}

/** To be called with the answer to the order of this key; another may be held by then. */
export function releaseOrder(key: string): void {
  if (kept.peek()?.key !== key) return
  visit.remove(KEPT)
  kept.value = null
}

/**
 * Whether an order may have been carried out although this came back. `wasUnsure`: it had been sent before, and only an
 * answer about the order itself tells what became of it.
 */
export const isUnsure = (error: unknown, wasUnsure = false): boolean =>
  !(error instanceof ApiError) || error.isUnsure || (wasUnsure && isNoAnswer(error))

function recalled(): UnsureOrder | null {
  try {
    const found = JSON.parse(visit.get(KEPT) ?? 'null') as Partial<UnsureOrder> | null
    return typeof found?.key === 'string' && typeof found.order?.instrumentId === 'string'
      ? (found as UnsureOrder)
      : null
  } catch {
    return null
  }
}
