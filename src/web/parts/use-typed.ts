/**
 * The field of a level, which is sent on Enter or blur, and not after Escape. It keeps what the user types until then,
 * although each tick redraws it. What is no price is not sent, and the level is shown again.
 */
import { useState } from 'preact/hooks'
import { decimalSign } from '../format.ts'
import { levelIn } from '../typed.ts'

export function useTyped(value: number | null, onSend: (level: number | null) => void) {
  const [typed, setTyped] = useState<string | null>(null)
  const shown = value === null ? '' : String(value).replace('.', decimalSign)
  return {
    inputmode: 'decimal',
    autocomplete: 'off',
    value: typed ?? shown,
    onInput: (event: Event) => setTyped(typedIn(event)),
    onChange: (event: Event) => {
      const level = levelIn(typedIn(event))
      if (level === undefined) setTyped(null)
      else onSend(level)
    },
    onBlur: () => setTyped(null),
    // What a program has set is no change, which the blur would send.
    onKeyDown: ({ key, target }: KeyboardEvent) => {
      if (key === 'Escape') (target as HTMLInputElement).value = shown
    },
  }
}

const typedIn = (event: Event): string => (event.target as HTMLInputElement).value
