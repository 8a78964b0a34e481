/**
 * Answers that are the same for all who may ask. After a goal every page asks for the same lists at once: they are made
 * once for all who wait for them, with their ETag and their compressed forms.
 */
import type { MiddlewareHandler } from 'hono'
import { etagOf } from './caching.ts'
import type { HttpEnv, MadeAnswer } from './answers.ts'
import { type Encoding, pack } from './compression.ts'

/** Compresses the answer once for each encoding, at the first request that accepts it. */
function madeOf(body: Uint8Array<ArrayBuffer>, type: string): MadeAnswer {
  const packed = new Map<Encoding, Promise<Uint8Array<ArrayBuffer>>>()
  let etag: string | null = null
  return {
    body,
    type,
    get etag() {
      return (etag ??= etagOf(body))
    },
    isPacked: (encoding) => packed.has(encoding),
    packed: (encoding) => {
      const known = packed.get(encoding)
      if (known !== undefined) return known
      const made = pack(body, encoding)
      packed.set(encoding, made)
      return made
    },
  }
}

/** Null for an answer that is made for one request: an error, or what a handler sends piece by piece. */
type Made = Promise<MadeAnswer | null>

interface Making {
  /** Has begun to read: a request that comes now may have written what it does not see. */
  readonly now: Made
  /** Begins when that is done, for all who wait by then. */
  next: Made | null
}

/**
 * Shares answers behind the gates and before the handler. An answer begins to be made after its readers have asked, so
 * it holds what they did before. For each address one answer is being made and one waits: a crowd of any size costs
 * two. Only answers with 200 are shared; after any other, each request that waited runs its own handler.
 */
export function sharedAnswers(): MiddlewareHandler<HttpEnv> {
  const makings = new Map<string, Making>()
  return async (c, next) => {
    const { url } = c.req
    let isLeader = false
    const make = async (): Made => {
      isLeader = true
      await next()
      const { status, headers } = c.res
      const type = headers.get('content-type') ?? ''
      if (status !== 200 || !type.startsWith('application/json')) return null
      return madeOf(new Uint8Array(await c.res.arrayBuffer()), type)
    }
    const made = await joined(makings, url, make).catch((error: unknown) => {
      if (isLeader) throw error
      return null
    })
    if (made === null) return isLeader ? undefined : next()
    c.set('made', made)
    c.res = undefined // or the framework would copy the leader's headers over those of this request
    c.res = c.body(made.body, 200, { 'Content-Type': made.type })
  }
}

function joined(makings: Map<string, Making>, key: string, make: () => Made): Made {
  const begin = (): Made => {
    const making: Making = { now: make(), next: null }
    makings.set(key, making)
    const done = (): void => {
      if (makings.get(key) === making && making.next === null) makings.delete(key)
    }
    making.now.then(done, done)
    return making.now
  }
  const running = makings.get(key)
  if (running === undefined) return begin()
  return (running.next ??= running.now.then(begin, begin))
}
