/** Sends a file of the page as small as the browser takes it. */
import type { Context } from 'hono'
import type { HttpEnv } from './answers.ts'
import type { Encoding, WebFile, WebFiles } from './web-files.ts'

/** Too small to be worth compressing, or compressed already. */
const COMPRESSIBLE = /^(text|application|image\/svg)/

export async function sendFile(c: Context<HttpEnv>, web: Pick<WebFiles, 'compressed'>, file: WebFile) {
  c.header('Content-Type', file.type)
  c.header('Vary', 'Accept-Encoding')
  const encoding = COMPRESSIBLE.test(file.type) ? encodingFor(c.req.header('accept-encoding') ?? '') : null
  if (encoding === null) return c.body(file.body, 200)
  c.header('Content-Encoding', encoding)
  return c.body(await web.compressed(file, encoding), 200)
}

/** The best that the browser takes. One that weighs its choices gets what weighs more than nothing. */
function encodingFor(accepted: string): Encoding | null {
  const takes = (name: string): boolean => new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`).test(accepted)
  if (takes('br')) return 'br'
  return takes('gzip') ? 'gzip' : null
}
