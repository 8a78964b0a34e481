/**
 * The service worker. It keeps what the page needs to start, so that an installed page opens without a network, and at
 * once on a slow one. It never keeps an answer of the API: prices and money are true or absent.
 */

// The parts of a service worker's scope that this one uses: the types of browsers and of workers exclude each other.
interface Extendable extends Event {
  waitUntil(work: Promise<unknown>): void
}
interface Fetching extends Extendable {
  readonly request: Request
  respondWith(response: Promise<Response>): void
}
interface Pushed extends Extendable {
  readonly data: { json(): unknown } | null
}
interface Clicked extends Extendable {
  readonly notification: Notification
}
interface Window {
  focus(): Promise<unknown>
  navigate(url: string): Promise<unknown>
}
interface Scope {
  /** Put before this file by the server: a name for this version of the page, and the addresses of its first files. */
  readonly SHELL: { readonly version: string; readonly shell: readonly string[] }
  readonly clients: {
    claim(): Promise<void>
    matchAll(options: { readonly type: 'window' }): Promise<readonly Window[]>
    openWindow(url: string): Promise<unknown>
  }
  readonly registration: { showNotification(title: string, options: NotificationOptions): Promise<void> }
  skipWaiting(): Promise<void>
  addEventListener(type: 'install' | 'activate', listener: (event: Extendable) => void): void
  addEventListener(type: 'fetch', listener: (event: Fetching) => void): void
  addEventListener(type: 'push', listener: (event: Pushed) => void): void
  addEventListener(type: 'notificationclick', listener: (event: Clicked) => void): void
}

const scope = globalThis as unknown as Scope
const CACHE = `page-${scope.SHELL.version}`
/** After this the kept page is shown, with its kept files. */
const SLOW_MS = 2_000

scope.addEventListener('install', (event) => {
  const keep = async (): Promise<void> => {
    const cache = await caches.open(CACHE)
    await cache.addAll(['/', ...scope.SHELL.shell])
    await scope.skipWaiting()
  }
  event.waitUntil(keep())
})

scope.addEventListener('activate', (event) => {
  const takeOver = async (): Promise<void> => {
    const others = (await caches.keys()).filter((name) => name !== CACHE)
    await Promise.all(others.map((name) => caches.delete(name)))
    await scope.clients.claim()
  }
  event.waitUntil(takeOver())
})

scope.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== location.origin) return
  if (pathname.startsWith('/web/')) event.respondWith(kept(request))
  else if (request.mode === 'navigate' && /^\/(join|watch\/\d+)?$/.test(pathname)) event.respondWith(page(request))
})

/** Its name contains its hash, so a kept file is the right one. */
async function kept(request: Request): Promise<Response> {
  return (await caches.match(request)) ?? fetch(request)
}

/** The page of the server, or the kept one where that is late, fails or is an error of a proxy. */
async function page(request: Request): Promise<Response> {
  const earlier = await caches.match('/')
  if (earlier === undefined) return fetch(request)
  const late = new Promise<Response>((resolve) => {
    setTimeout(() => resolve(earlier), SLOW_MS)
  })
  const fresh = fetch(request).then(
    (response) => (response.ok ? response : earlier),
    () => earlier,
  )
  return Promise.race([fresh, late])
}

/** What the server sends. Browsers demand that something is shown for each message. */
interface Message {
  /** Of the notification: sent twice, it is shown once. */
  readonly id?: string
  readonly title: string
  readonly body: string
  /** An address of the page. */
  readonly open: string
}

scope.addEventListener('push', (event) => {
  const { id, title, body, open } = (event.data?.json() ?? { title: 'Touchline', body: '', open: '/' }) as Message
  event.waitUntil(
    scope.registration.showNotification(title, { ...(id === undefined ? {} : { tag: id }), body, data: open }),
  )
})

scope.addEventListener('notificationclick', (event) => {
  const { notification } = event
  notification.close()
  const show = async (): Promise<void> => {
    const open = typeof notification.data === 'string' && notification.data.startsWith('/#/') ? notification.data : '/'
    const [shown] = await scope.clients.matchAll({ type: 'window' })
    if (shown === undefined) return void (await scope.clients.openWindow(open))
    await shown.navigate(open)
    await shown.focus()
  }
  event.waitUntil(show())
})
