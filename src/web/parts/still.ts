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
      // A list that goes from under the mouse is not told that the mouse leaves it.
      ref: (drawn: Element | null) => {
        if (drawn === null) isHeld.value = isUnderPointer = false
      },
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

/** A list of what costs money. A press counts for the row that it began on, if that had not just come to its place. */
export function aimed() {
  let drawn: readonly string[] = []
  /** When a place of the list got another row than it had. */
  const movedAt: number[] = []
  let row: Element | null = null
  return {
    /** To be called with the rows of the list whenever they are drawn. */
    drawn(rows: readonly string[]) {
      for (const [place, before] of drawn.entries()) if (rows[place] !== before) movedAt[place] = performance.now()
      drawn = rows
    },
    handlers: {
      onPointerDownCapture: ({ target, timeStamp, currentTarget }: PointerEvent) => {
        row = (target as Element).closest('li')
        const place = [...(currentTarget as Element).children].findIndex((one) => one === row)
        if (timeStamp < (movedAt[place] ?? -AIM_MS) + AIM_MS) row = null
      },
      // A key or a screen reader presses what it is on, wherever that is.
      onClickCapture: (event: MouseEvent) => {
        const pressed = (event.target as Element).closest('li')
        if (event.detail === 0 || pressed === row) return
        event.stopPropagation()
        // Nothing was done, and that shows.
        pressed?.animate({ opacity: [0.4, 1] }, AIM_MS)
      },
    },
  }
}
