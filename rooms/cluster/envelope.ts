/**
 * The form of every message between processes, and which versions of the program understand each other. This file must
 * stay readable to all versions: a process that cannot read a request must still be able to say so.
 */
import { z } from 'zod'

/**
 * The versions of the protocol that one program speaks, oldest and newest. Two programs understand each other if their
 * ranges overlap. A change that old readers can ignore (a new field, a new kind) raises `newest`; one that they would
 * misread raises `oldest` too, and then no request crosses until all processes have been replaced.
 */
export interface Versions {
  readonly oldest: number
  readonly newest: number
}

export const overlap = (a: Versions, b: Versions): boolean => a.newest >= b.oldest && b.newest >= a.oldest

/** Returns the value if it has the expected form, undefined if not. */
export type Read<T> = (value: unknown) => T | undefined

export const readerOf =
  <T>(schema: z.ZodType<T>): Read<T> =>
  (value) =>
    schema.safeParse(value).data

const id = z.int().nonnegative()
const versions = z.object({ oldest: z.int(), newest: z.int() })

const Envelope = z.discriminatedUnion('is', [
  z.object({ is: z.literal('request'), versions, id, from: z.string(), kind: z.string(), body: z.unknown() }),
  z.object({ is: z.literal('answer'), versions, id, body: z.unknown() }),
  /** The process met a fault while it served the request. */
  z.object({ is: z.literal('failure'), id, error: z.string() }),
  /** The process cannot read the request, and has done nothing. */
  z.object({ is: z.literal('declined'), id, reason: z.string() }),
])
export type Envelope = z.infer<typeof Envelope>
export type RequestEnvelope = Extract<Envelope, { is: 'request' }>

const Published = z.object({ versions, message: z.unknown() })
export type Published = z.infer<typeof Published>

export const readEnvelope = parsed(readerOf(Envelope))
export const readPublished = parsed(readerOf(Published))

function parsed<T>(read: Read<T>): (bytes: Buffer) => T | undefined {
  return (bytes) => {
    try {
      return read(JSON.parse(bytes.toString()))
    } catch {
      return undefined
    }
  }
}
