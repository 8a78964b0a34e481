/**
 * The page at `/` and the files it loads. Not part of the API: not described. All of it is in memory, and without rate
 * limits, but what is looked up for an address that people share.
 */
import { type Context, Hono } from 'hono'
import { fixtureId } from '../../../actors/kernel/ids.ts'
import { answerWith, fail, type HttpEnv } from '../answers.ts'
import { keptFor } from '../caching.ts'
import { QUEUE_FULL } from '../queue.ts'
import type { SharedPage } from '../api-part.ts'
import type { HttpDeps } from '../ports.ts'
import type { RateLimits } from '../rate-limits.ts'
import { sendFile } from '../send-file.ts'
import { INVITED, type Share, WEB_BASE, type WebFile, type WebFiles } from '../web-files.ts'

const FOREVER = 'public, max-age=31536000, immutable'
const A_WHILE = 'public, max-age=300'

const WATCHED: Share = { title: 'Touchline', text: 'Watch how footballers are priced while they play.' }

interface PageDeps extends Pick<HttpDeps, 'web' | 'watching' | 'wsUrlFor'> {
  readonly limits: Pick<RateLimits, 'countShare'>
}

export function webPage({ web, watching, wsUrlFor, limits }: PageDeps, shares: readonly SharedPage[]) {
  /** Files that keep their address: the browser asks each time whether they have changed. */
  const send = (c: Context<HttpEnv>, file: WebFile) => {
    c.header('Cache-Control', 'no-cache')
    return sendFile(c, web, file)
  }
  const sendPage = (c: Context<HttpEnv>, page = web.page) => {
    c.header('Content-Security-Policy', policy(wsUrlFor(new URL(c.req.url).hostname)))
    return send(c, page)
  }
  /** The page at an address that people share. */
  const sendShared = (c: Context<HttpEnv>, share: Share) => {
    c.header('Cache-Control', 'no-cache')
    c.header('Content-Security-Policy', policy(wsUrlFor(new URL(c.req.url).hostname)))
    return c.html(web.shared(share))
  }
  const scoreOf = (id: number): Share | null => {
    const match = watching.shown?.matches.get(fixtureId(id))
    if (match === undefined) return null
    const { home, away, minute } = match
    return {
      title: `${home.name} ${home.score ?? 0}–${away.score ?? 0} ${away.name}`,
      text: `Minute ${minute ?? 0}. ${WATCHED.text}`,
    }
  }
  const page = new Hono<HttpEnv>()
    .get('/', (c) => sendPage(c))
    .get('/join', (c) => sendShared(c, INVITED))
    .get('/watch/:id{[0-9]+}', (c) => sendShared(c, scoreOf(Number(c.req.param('id'))) ?? WATCHED))
    .get('/verify', (c) => sendPage(c, web.verifyPage))
    .get('/app.webmanifest', (c) => send(c, web.manifest))
    .get('/worker.js', (c) => {
      c.header('Content-Security-Policy', "default-src 'none'; connect-src 'self'")
      return send(c, web.worker)
    })
    .get('/favicon.ico', (c) => c.redirect(web.address('icon.svg')))
    .get(`${WEB_BASE}/*`, async (c) => {
      const file = web.find(c.req.path.slice(WEB_BASE.length + 1))
      if (file === null) return fail(c, answerWith('NOT_FOUND'))
      c.header('Cache-Control', FOREVER)
      return sendFile(c, web, file)
    })
  for (const { path, of, picture } of shares) {
    // Beyond the limit the link still works: it shows what any invitation shows.
    page.get(path, async (c) => {
      const share = (await limits.countShare(c)) === null ? await of(c.req.param('parameter') ?? '') : null
      return sendShared(c, share ?? INVITED)
    })
    if (picture === undefined) continue
    page.get(`${path}/picture`, async (c) => {
      const excess = await limits.countShare(c)
      if (excess !== null) return fail(c, excess)
      const drawn = await picture(c.req.param('parameter') ?? '', c.req.raw.signal)
      if (drawn === null) return fail(c, answerWith('NOT_FOUND'))
      if (drawn === 'busy') return fail(c, QUEUE_FULL)
      keptFor(c, A_WHILE)
      return c.body(drawn, 200, { 'Content-Type': 'image/png' })
    })
  }
  return page
}

/** What a browser sees at an unknown address; null for programs, which are told in JSON. */
export function lostPage(c: Context<HttpEnv>, { lostPage: page }: Pick<WebFiles, 'lostPage'>): Response | null {
  if (c.req.path.startsWith('/api/') || !(c.req.header('accept') ?? '').includes('text/html')) return null
  c.header('Cache-Control', 'no-cache')
  c.header('Content-Security-Policy', "default-src 'none'; img-src 'self'; style-src 'self'; font-src 'self'")
  c.header('Content-Type', page.type)
  return c.body(page.body, 404)
}

/** Everything comes from this server and the price feed, but profile pictures may come from any host. */
const policy = (wsUrl: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: https:",
    "font-src 'self'",
    `connect-src 'self' ${wsUrl}`,
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
