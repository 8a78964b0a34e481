/**
 * After a press that costs money nothing that costs money can be pressed for a moment: the second tap of a double tap
 * meets whatever has come to the place of the first. Such a button is `aria-disabled` meanwhile: one that is `disabled`
 * would lose the focus.
 */
import { signal } from '@preact/signals'

/** Longer than between the taps of a double tap. */
const REST_MS = 700

export const isResting = signal(false)

let ending: ReturnType<typeof setTimeout> | undefined

export function rest(): void {
  clearTimeout(ending)
  isResting.value = true
  ending = setTimeout(() => (isResting.value = false), REST_MS)
}

/** On a button that keeps the focus, or a form: a key that stays down presses or sends it once. */
export function pressOnce(event: KeyboardEvent): void {
  if (event.repeat && event.key === 'Enter') event.preventDefault()
}
