/**
 * A list of what prices sort. Under a finger, a mouse or the keyboard it stays as it is: a press meets what it was
 * aimed at, and the focus stays in its row.
 */
import { computed, signal } from '@preact/signals'

/** The click of a tap comes after the finger has left. */
const LEAVE_MS = 400

/** `list` follows prices, except while one of these is on it. A change of `by` (order or match) always counts. */
export function still<T>(list: () => T, by: () => unknown) {
  const isHeld = signal(false)
  let kept: { readonly of: unknown; readonly list: T } | undefined
  let leaving: ReturnType<typeof setTimeout> | undefined
  const hold = (): void => {
    clearTimeout(leaving)
    isHeld.value = true
  }
  const leave = (): void => {
    clearTimeout(leaving)
    leaving = setTimeout(() => (isHeld.value = false), LEAVE_MS)
  }
  const shown = computed(() => {
    const of = by()
    if (kept === undefined || !isHeld.value || kept.of !== of) kept = { of, list: list() }
    return kept.list
  })
  return {
    shown,
    handlers: {
      onPointerEnter: hold,
      onPointerLeave: leave,
      onFocusIn: ({ target }: FocusEvent) => ((target as Element).matches(':focus-visible') ? hold() : undefined),
      onFocusOut: leave,
    },
  }
}
