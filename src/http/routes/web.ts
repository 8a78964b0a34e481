/** The page at `/` and the files it loads. Not part of the API: not described, and without rate limits. */
import { type Context, Hono } from 'hono'
import { answerWith, fail, type HttpEnv } from '../answers.ts'
import type { HttpDeps } from '../ports.ts'
import { sendFile } from '../send-file.ts'

const FOREVER = 'public, max-age=31536000, immutable'

export function webPage({ web, wsUrlFor }: Pick<HttpDeps, 'web' | 'wsUrlFor'>) {
  const sendPage = (c: Context<HttpEnv>, page = web.page) => {
    c.header('Cache-Control', 'no-cache')
    c.header('Content-Security-Policy', policy(web.inlineScript, wsUrlFor(new URL(c.req.url).hostname)))
    return sendFile(c, web, page)
  }
  return new Hono<HttpEnv>()
    .get('/', (c) => sendPage(c))
    .get('/join', (c) => sendPage(c)) // the path of share links
    .get('/verify', (c) => sendPage(c, web.verifyPage))
    .get('/favicon.ico', (c) => c.redirect(`${web.base}/icon.svg`))
    .get(`${web.base}/*`, async (c) => {
      const file = web.find(c.req.path.slice(web.base.length + 1))
      if (file === null) return fail(c, answerWith('NOT_FOUND'))
      c.header('Cache-Control', FOREVER)
      return sendFile(c, web, file)
    })
}

/** Everything comes from this server and the price feed, but profile pictures may come from any host. */
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
