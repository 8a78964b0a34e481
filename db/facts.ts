/** Reads the stored facts that a notification or headline carries for programs. */
import { type Reader, recordOf, Unreadable } from '../actors/kernel/read.ts'

const readFact: Reader<string | number> = (value, path) => {
  if (typeof value !== 'string' && typeof value !== 'number') throw new Unreadable(path, value, 'a text or a number')
  return value
}

export const readFacts = recordOf(readFact)
