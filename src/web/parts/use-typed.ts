/**
 * A field that is sent on Enter or blur, and not after Escape. It keeps what the user types until then, although each
 * tick redraws it.
 */
import { useState } from 'preact/hooks'

export function useTyped(value: number | null, onSend: (typed: string) => void) {
  const [typed, setTyped] = useState<string | null>(null)
  return {
    value: typed ?? value ?? '',
    onInput: (event: Event) => setTyped(typedIn(event)),
    onChange: (event: Event) => onSend(typedIn(event)),
    onBlur: () => setTyped(null),
    // What a program has set is no change, which the blur would send.
    onKeyDown: ({ key, target }: KeyboardEvent) => {
      if (key === 'Escape') (target as HTMLInputElement).value = String(value ?? '')
    },
  }
}

const typedIn = (event: Event): string => (event.target as HTMLInputElement).value
