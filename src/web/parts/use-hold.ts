/**
 * A button that acts when it has been held for a moment, by a finger, a mouse or a key. A tap does nothing. Assistive
 * technology, which cannot hold, presses it: what it does then is for the caller.
 */
import { useEffect, useRef, useState } from 'preact/hooks'

/** Longer than a tap, shorter than a doubt. The animation of `.send[data-holding]` takes as long. */
const HOLD_MS = 600

const KEYS = ['Enter', ' ']

export function useHold(onHeld: () => void, onPressed: () => void) {
  const [isHolding, setHolding] = useState(false)
  const act = useRef(onHeld)
  act.current = onHeld
  useEffect(() => {
    if (!isHolding) return
    const done = setTimeout(() => {
      setHolding(false)
      act.current()
    }, HOLD_MS)
    return () => clearTimeout(done)
  }, [isHolding])
  const begin = (): void => setHolding(true)
  const end = (): void => setHolding(false)
  const key = (then: () => void) => (event: KeyboardEvent) => {
    if (!KEYS.includes(event.key)) return
    event.preventDefault() // no click, which would be a press
    if (!event.repeat) then()
  }
  return {
    isHolding,
    handlers: {
      onPointerDown: (event: PointerEvent) => (event.button === 0 ? begin() : undefined),
      onPointerUp: end,
      onPointerLeave: end,
      onPointerCancel: end,
      onContextMenu: (event: Event) => event.preventDefault(),
      onKeyDown: key(begin),
      onKeyUp: key(end),
      onBlur: end,
      onClick: (event: MouseEvent) => (event.detail === 0 ? onPressed() : undefined),
    },
  }
}
