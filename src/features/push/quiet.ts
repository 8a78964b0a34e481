/** Hours in which a browser is left alone: what would have been sent then is only in the inbox. */
import { fieldsOf, type Reader, text } from '../../../actors/kernel/read.ts'
import type { Instant } from '../../../actors/kernel/world.ts'

/** From one time of day to another, `22:00` to `07:30`, at the place of the browser. */
export interface QuietHours {
  readonly from: string
  readonly to: string
  /** Of the IANA database, `Europe/Madrid`. */
  readonly timeZone: string
}

export const readQuietHours: Reader<QuietHours> = (value, path) => {
  const field = fieldsOf(value, path)
  return { from: field('from', text), to: field('to', text), timeZone: field('timeZone', text) }
}

/** By name in small letters: making a clock takes long, each has some 30 KB, and every spelling would get its own. */
const clocks = new Map<string, Intl.DateTimeFormat>()

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const name = timeZone.toLowerCase()
  const known = clocks.get(name)
  if (known !== undefined) return known
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  clocks.set(name, clock)
  return clock
}

/** An offset is none: it would be wrong for half of the year. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Z][\w+/-]*$/i.test(name)) return false
  try {
    clockOf(name)
    return true
  } catch {
    return false
  }
}

/** A zone that this version of the database no longer knows has no quiet hours. */
export function isQuiet({ from, to, timeZone }: QuietHours, now: Instant): boolean {
  if (!isTimeZone(timeZone)) return false
  const time = clockOf(timeZone).format(now)
  return from < to ? time >= from && time < to : time >= from || time < to
}
