/** Numbers on the command line of a tool. One that is none would make a run that does nothing and finds nothing wrong. */

/** The number that an option has. Ends the program, saying why, when it is not whole or out of these bounds. */
export function whole(name: string, text: string, from: number, to = 1e9): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= from && value <= to) return value
  process.stderr.write(`--${name} must be a whole number from ${from} to ${to}; it is '${text}'\n`)
  process.exit(2)
}
