/** The server's clock: holds and kick-offs are counted by it, not by the browser's. */
import { signal } from '@preact/signals'

/** The server's clock minus ours, in milliseconds. */
let offset = 0

/** The server's time, in milliseconds since 1970; moves once a second. */
export const now = signal(Date.now())

/** Sets the clock to a time the server sent. */
export function setClock(serverTime: number): void {
  if (Number.isFinite(serverTime)) offset = serverTime - Date.now()
}

setInterval(() => (now.value = Date.now() + offset), 1_000)
