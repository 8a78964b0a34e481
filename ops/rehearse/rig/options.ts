/** What a tool is told by its command line. An invalid number would make a run do nothing and pass. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'

/** Ends the program: it cannot do what it was asked, for a reason that its caller can correct. */
export function refuse(why: string): never {
  process.stderr.write(`${why}\n`)
  process.exit(2)
}

/** What the caller has given, as it is read. Ends the program, saying why, when it cannot be read. */
export function understood<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}

/** What a server answers at this path of an address that the caller has given. Ends the program when none answers. */
export async function reached(address: string, path: string): Promise<Response> {
  try {
    return await fetch(address.replace(/\/$/, '') + path)
  } catch (error) {
    const { message, cause } = error instanceof Error ? error : new Error(String(error))
    return refuse(`${address} does not answer: ${cause instanceof Error ? cause.message : message}`)
  }
}

/** The number that an option has. Ends the program, saying why, when it is not whole or out of these bounds. */
export function whole(name: string, text: string, from: number, to = 1e9): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= from && value <= to) return value
  return refuse(`--${name} must be a whole number from ${from} to ${to}; it is '${text}'`)
}

/** The share from 0 to 1 that an option has. Ends the program, saying why, when it is none. */
export function share(name: string, text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= 0 && value <= 1) return value
  return refuse(`--${name} must be a number from 0 to 1; it is '${text}'`)
}

/** The whole numbers of a command line, each with its default, the least and the most; and its other options. */
export function numbers<Name extends string, Others extends ParseArgsOptionsConfig>(
  wanted: Readonly<Record<Name, readonly [usual: number, from: number, to?: number]>>,
  others: Others = {} as Others,
): Record<Name, number> & ReturnType<typeof parseArgs<{ options: Others }>>['values'] {
  const bounds = Object.entries(wanted) as [Name, readonly [number, number, number?]][]
  const texts = Object.fromEntries(bounds.map(([name, [usual]]) => [name, { type: 'string', default: `${usual}` }]))
  const options: ParseArgsOptionsConfig = { ...others, ...texts }
  const { values } = parseArgs({ options })
  const read = bounds.map(([name, [, from, to]]) => [name, whole(name, String(values[name]), from, to)])
  return { ...values, ...Object.fromEntries(read) }
}
