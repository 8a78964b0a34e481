/** Sends a file of the page, compressed as well as the browser accepts; 304 to a browser that has it. */
import type { Context } from 'hono'
import type { HttpEnv } from './answers.ts'
import { etagOf, matches } from './caching.ts'
import { encodingFor } from './compression.ts'
import type { WebFile, WebFiles } from './web-files.ts'

/** The others are already compressed. */
const COMPRESSIBLE = /^(text|application|image\/svg)/

const tags = new WeakMap<WebFile, string>()

export async function sendFile(c: Context<HttpEnv>, web: Pick<WebFiles, 'compressed'>, file: WebFile) {
  const etag = tags.get(file) ?? etagOf(file.body)
  tags.set(file, etag)
  c.header('ETag', etag)
  c.header('Vary', 'Accept-Encoding', { append: true })
  if (matches(c, etag)) return c.body(null, 304)
  c.header('Content-Type', file.type)
  const encoding = COMPRESSIBLE.test(file.type) ? encodingFor(c.req.header('accept-encoding') ?? '') : null
  if (encoding === null) return c.body(file.body, 200)
  c.header('Content-Encoding', encoding)
  return c.body(await web.compressed(file, encoding), 200)
}
