/** Notes of what a check sends and is answered. Visitors and sockets make them as it happens, in short. */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface Exchange {
  readonly sent: string
  answered: string
  /** How often the same was sent, and answered alike; the last answer is kept. */
  times: number
}

const list = new AsyncLocalStorage<Exchange[] | undefined>()

/** What `work` sends is noted here. */
export const notingIn = <T>(exchanges: Exchange[], work: () => Promise<T>): Promise<T> => list.run(exchanges, work)

/** What `work` sends prepares a check, and is not noted. */
export const unnoted = <T>(work: () => Promise<T>): Promise<T> => list.run(undefined, work)

/** Where the check that is running notes its exchanges; sockets keep it for what they receive later. */
export const notesOfCheck = (): Exchange[] | undefined => list.getStore()

/** `alike`: the part of the answer that tells it from others, such as the status. */
export function note(exchanges: Exchange[] | undefined, sent: string, answered: string, alike = answered): void {
  const last = exchanges?.at(-1)
  if (last?.sent === sent && last.answered.startsWith(alike)) {
    last.times++
    last.answered = answered
  } else exchanges?.push({ sent, answered, times: 1 })
}

const CHARACTERS_MAX = 400
const ITEMS_MAX = 2
const TEXT_MAX = 40
const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/

/** JSON in short: long texts and lists are cut, and what is null is left out. */
export function brief(value: unknown): string {
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (part === null) return undefined
    if (typeof part === 'string') return UUID.test(part) || part.length > TEXT_MAX ? `${part.slice(0, 8)}…` : part
    if (Array.isArray(part) && part.length > ITEMS_MAX)
      return [...part.slice(0, ITEMS_MAX), `${part.length - ITEMS_MAX} more`]
    return part
  })
  if (text === undefined) return ''
  return text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)}…` : text
}
