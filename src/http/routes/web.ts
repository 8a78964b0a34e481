/** The page at `/` and what it loads. Not part of the API: neither described, nor counted against anybody's limit. */
import { type Context, Hono } from 'hono'
import { fail, type HttpEnv } from '../answers.ts'
import type { HttpDeps } from '../ports.ts'
import type { Encoding, WebFile } from '../web-files.ts'

const FOREVER = 'public, max-age=31536000, immutable'
/** Too small to be worth compressing, or compressed already. */
const COMPRESSIBLE = /^(text|application|image\/svg)/

export function webRoutes({ web, wsUrlFor }: Pick<HttpDeps, 'web' | 'wsUrlFor'>) {
  const send = async (c: Context<HttpEnv>, file: WebFile) => {
    c.header('Content-Type', file.type)
    c.header('Vary', 'Accept-Encoding')
    const encoding = COMPRESSIBLE.test(file.type) ? encodingFor(c.req.header('accept-encoding') ?? '') : null
    if (encoding === null) return c.body(file.body)
    c.header('Content-Encoding', encoding)
    return c.body(await web.compressed(file, encoding))
  }
  const sendPage = (c: Context<HttpEnv>) => {
    c.header('Cache-Control', 'no-cache')
    c.header('Content-Security-Policy', policy(web.inlineScript, wsUrlFor(new URL(c.req.url).hostname)))
    return send(c, web.page)
  }
  return new Hono<HttpEnv>()
    .get('/', (c) => sendPage(c))
    .get('/join', (c) => sendPage(c)) // where share links lead
    .get('/favicon.ico', (c) => c.redirect(`${web.base}/icon.svg`))
    .get(`${web.base}/*`, async (c) => {
      const file = web.find(c.req.path.slice(web.base.length + 1))
      if (file === null) return fail(c, { status: 404, code: 'NOT_FOUND', error: 'not found' })
      c.header('Cache-Control', FOREVER)
      return send(c, file)
    })
}

/** Everything from here, the feed besides; pictures of people may come from wherever the identity provider keeps them. */
const policy = (inlineScript: string, wsUrl: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' '${inlineScript}'`,
    "style-src 'self'",
    "img-src 'self' data: https:",
    "font-src 'self'",
    `connect-src 'self' ${wsUrl}`,
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** The best that the browser takes. One that weighs its choices gets what weighs more than nothing. */
function encodingFor(accepted: string): Encoding | null {
  const takes = (name: string): boolean => new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`).test(accepted)
  if (takes('br')) return 'br'
  return takes('gzip') ? 'gzip' : null
}
