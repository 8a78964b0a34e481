/** Reads purses that were stored or sent. */
import { type Purse, purseNamed } from './purse.ts'
import { type Reader, text, Unreadable } from './read.ts'

export const readPurse: Reader<Purse> = (value, path) => {
  const name = text(value, path)
  const purse = purseNamed(name)
  if (purse === null) throw new Unreadable(path, name, 'a purse')
  return purse
}
