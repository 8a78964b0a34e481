/** A field that is sent on Enter or blur. What is typed stays until then, though each price draws the field anew. */
import { useState } from 'preact/hooks'

export function useTyped(value: number | null, onSend: (typed: string) => void) {
  const [typed, setTyped] = useState<string | null>(null)
  return {
    value: typed ?? value ?? '',
    onInput: (event: Event) => setTyped(typedIn(event)),
    onChange: (event: Event) => onSend(typedIn(event)),
    onBlur: () => setTyped(null),
  }
}

const typedIn = (event: Event): string => (event.target as HTMLInputElement).value
