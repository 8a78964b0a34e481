/** Assertions. They stay on in production: a broken invariant ends a request or an actor, never corrupts the books. */

/** A bug in the program. It is never handled: the request fails, and the actor restarts from the database. */
export class InvariantBroken extends Error {
  override name = 'InvariantBroken'
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantBroken(message)
}

/** Ends a switch over a closed union: a forgotten member is a compile error here. */
export function unreachable(value: never): never {
  throw new InvariantBroken(`unexpected value: ${JSON.stringify(value)}`)
}

/** A value that must exist. Throws InvariantBroken, with the name `what`, when it does not. */
export function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new InvariantBroken(`${what} is missing`)
  return value
}
