/**
 * Compresses JSON on request. An attacker who can put text into an answer, and see how long it is, could guess a secret
 * beside it (BREACH): answers of the routes that carry secrets are never compressed. Elsewhere nothing in a body is
 * secret from its reader, and a foreign page brings no cookie, because they are partitioned by page.
 */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { MiddlewareHandler } from 'hono'
import type { HttpEnv } from './answers.ts'

export type Encoding = 'br' | 'gzip'

/** Below this a packet is saved rarely, and work is done always. */
const BYTES_MIN = 1_024
/** At a time: zlib shares its four threads with the signatures of tokens. More answers go out as they are. */
const TOGETHER = 2
/** Their answers carry tokens, keys or tickets. */
const SECRET = /^\/api\/(auth|keys|ws|admin\/webhooks)\b/

const zip = promisify(gzip)
const brotli = promisify(brotliCompress)
/** About as fast as gzip, and a tenth smaller. */
const QUICK = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

export async function pack(body: Uint8Array, encoding: Encoding): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await (encoding === 'br' ? brotli(body, QUICK) : zip(body)))
}

/** The best encoding that a client accepts, null for none. Of its weights only `q=0` counts. */
export function encodingFor(accepted: string): Encoding | null {
  const accepts = (name: string): boolean => new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`).test(accepted)
  if (accepts('br')) return 'br'
  return accepts('gzip') ? 'gzip' : null
}

/**
 * Compresses answers in JSON of 1 kB and more for clients that accept it. Downloads, which are streamed, and everything
 * that is compressed already pass as they are. A request that accepts no encoding costs one look at its headers.
 */
export function compressJson(): MiddlewareHandler<HttpEnv> {
  let under = 0
  return async (c, next) => {
    if (SECRET.test(c.req.path)) return next()
    const encoding = encodingFor(c.req.header('accept-encoding') ?? '')
    // Also on an answer that is not compressed: a cache must not give it to a client that asks for another form.
    c.header('Vary', 'Accept-Encoding', { append: true })
    await next()
    if (encoding === null || !isWholeJson(c.res)) return
    const { made } = c.var
    if (under >= TOGETHER && made?.isPacked(encoding) !== true) return
    under++
    try {
      const body = made?.body ?? new Uint8Array(await c.res.arrayBuffer())
      const { status, headers } = c.res
      const isWorthIt = body.byteLength >= BYTES_MIN
      const sent = isWorthIt ? await (made?.packed(encoding) ?? pack(body, encoding)) : body
      if (isWorthIt) headers.set('Content-Encoding', encoding)
      c.res = undefined // or the framework would copy the old headers over the new ones
      c.res = new Response(sent, { status, headers })
    } finally {
      under--
    }
  }
}

/** Whether an answer is JSON that was made in one piece. */
function isWholeJson({ body, headers }: Response): boolean {
  const isJson = (headers.get('content-type') ?? '').startsWith('application/json')
  return isJson && body !== null && !headers.has('content-encoding') && !headers.has('content-disposition')
}
