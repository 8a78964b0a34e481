/** A form: how it is sent, whether that is under way, and what went wrong. */
import { useState } from 'preact/hooks'
import { messageFor } from '../error-messages.ts'

export function useForm(send: () => Promise<void>) {
  const [trouble, setTrouble] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setTrouble(null)
    await send().catch((error: unknown) => setTrouble(messageFor(error)))
    setBusy(false)
  }
  return { trouble, isBusy, onSubmit: (event: Event) => void submit(event) }
}

/** What the field of an event holds. */
export const typed = (event: Event): string => (event.target as HTMLInputElement).value
