/** Sends a file of the page, compressed as well as the browser accepts. */
import type { Context } from 'hono'
import type { HttpEnv } from './answers.ts'
import type { Encoding, WebFile, WebFiles } from './web-files.ts'

/** The others are already compressed. */
const COMPRESSIBLE = /^(text|application|image\/svg)/

export async function sendFile(c: Context<HttpEnv>, web: Pick<WebFiles, 'compressed'>, file: WebFile) {
  c.header('Content-Type', file.type)
  c.header('Vary', 'Accept-Encoding')
  const encoding = COMPRESSIBLE.test(file.type) ? encodingFor(c.req.header('accept-encoding') ?? '') : null
  if (encoding === null) return c.body(file.body, 200)
  c.header('Content-Encoding', encoding)
  return c.body(await web.compressed(file, encoding), 200)
}

/** The best encoding that the browser accepts. Of its weights only `q=0` counts. */
function encodingFor(accepted: string): Encoding | null {
  const accepts = (name: string): boolean => new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`).test(accepted)
  if (accepts('br')) return 'br'
  return accepts('gzip') ? 'gzip' : null
}
