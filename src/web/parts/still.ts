/**
 * A list of what prices sort. Under a finger, a mouse or the keyboard it stays as it is: a press meets what it was
 * aimed at, and the focus stays in its row.
 */
import { computed, signal } from '@preact/signals'

/** The click of a tap comes after the finger has left. */
const LEAVE_MS = 400
/** From seeing where a row is to pressing it. */
const AIM_MS = 500

/** `list` follows prices, except while one of these is on it. A change of `by` (order or match) always counts. */
export function still<T>(list: () => T, by: () => unknown) {
  const isHeld = signal(false)
  let isUnderPointer = false
  let kept: { readonly of: unknown; readonly list: T } | undefined
  let leaving: ReturnType<typeof setTimeout> | undefined
  const hold = (): void => {
    clearTimeout(leaving)
    isHeld.value = true
  }
  const leave = ({ currentTarget }: Event): void => {
    const isFocused = (): boolean => (currentTarget as Element).matches(':has(:focus-visible)')
    clearTimeout(leaving)
    leaving = setTimeout(() => (isHeld.value = isUnderPointer || isFocused()), LEAVE_MS)
  }
  const shown = computed(() => {
    const of = by()
    if (kept === undefined || !isHeld.value || kept.of !== of) kept = { of, list: list() }
    return kept.list
  })
  return {
    shown,
    handlers: {
      onPointerEnter: () => {
        isUnderPointer = true
        hold()
      },
      onPointerLeave: (event: Event) => {
        isUnderPointer = false
        leave(event)
      },
      onFocusIn: ({ target }: FocusEvent) => ((target as Element).matches(':focus-visible') ? hold() : undefined),
      onFocusOut: leave,
    },
  }
}

/** A list of what costs money. A press counts for the row that it began on, and that had not just come to its place. */
export function aimed() {
  let movedAt = -AIM_MS
  let row: Element | null = null
  return {
    /** To be called when rows have come, gone or changed places. */
    moved: () => (movedAt = performance.now()),
    handlers: {
      onPointerDownCapture: ({ target, timeStamp }: PointerEvent) =>
        (row = timeStamp < movedAt + AIM_MS ? null : (target as Element).closest('li')),
      // A key or a screen reader presses what it is on, wherever that is.
      onClickCapture: (event: MouseEvent) => {
        if (event.detail > 0 && (event.target as Element).closest('li') !== row) event.stopPropagation()
      },
    },
  }
}
