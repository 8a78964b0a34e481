/**
 * Answers that are sent as they are read. Each holds a place of the process and of its owner until it has been sent,
 * its client has gone or its time is over: nothing that a client does, or leaves undone, keeps a place.
 */
import { type Duplex, PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'
import type { Context } from 'hono'
import { type Encoding, encodingFor } from './compression.ts'
import { Places, type PlacesOptions } from './places.ts'

export interface DownloadsOptions extends PlacesOptions {
  /** After this time a download is cut off; two minutes if left out. */
  readonly withinMs?: number
}

interface Wanted {
  /** Who is counted: a user, or an address. */
  readonly owner: string
  /** Called for GET alone. Ended when the client has gone. */
  readonly chunks: () => AsyncGenerator<string>
  /** Done before anything is sent, for GET alone. */
  readonly first?: () => Promise<void>
  readonly packing?: Duplex
}

export interface Begun {
  /** Empty for HEAD, which is answered with the status and the fields of GET. */
  readonly body: ReadableStream<Uint8Array>
}

const WITHIN_MS = 120_000

export class Downloads {
  readonly #places: Places
  readonly #withinMs: number

  constructor({ withinMs = WITHIN_MS, ...places }: DownloadsOptions) {
    this.#places = new Places(places)
    this.#withinMs = withinMs
  }

  /** As `begin`, in the encoding that the client accepts. Sets the fields that say so. */
  async beginPacked(c: Context, wanted: Omit<Wanted, 'packing'>): Promise<Begun | null> {
    const encoding = encodingFor(c.req.header('accept-encoding') ?? '')
    const begun = await this.begin(c, { ...wanted, packing: packer(encoding) })
    if (begun === null) return null
    c.header('Vary', 'Accept-Encoding', { append: true })
    if (encoding !== null) c.header('Content-Encoding', encoding)
    return begun
  }

  /**
   * Null while the owner or the process has as many as it may. Set fields of the answer after this: they do not belong
   * to a refusal. Rejects as `first` does.
   */
  async begin(
    c: Pick<Context, 'req'>,
    { owner, chunks, first, packing = new PassThrough() }: Wanted,
  ): Promise<Begun | null> {
    const leave = this.#places.take(owner)
    if (leave === null) return null
    if (c.req.method === 'HEAD') {
      leave()
      return { body: new ReadableStream({ start: (empty) => empty.close() }) }
    }
    try {
      await first?.()
    } catch (error) {
      leave()
      throw error
    }
    // A failure of the source ends the download early, which the client sees.
    pipeline(Readable.from(chunks()), packing, { signal: AbortSignal.timeout(this.#withinMs) }).then(leave, leave)
    return { body: Readable.toWeb(packing) }
  }
}

/** A stream that compresses, or passes everything on. */
export function packer(encoding: Encoding | null): Duplex {
  if (encoding === null) return new PassThrough()
  if (encoding === 'gzip') return createGzip()
  return createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 22 } })
}
