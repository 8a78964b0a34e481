/** Lets clients in: opens the REST and the WebSocket address. */
import { HttpServer } from '../http-server.ts'
import type { Base } from './base.ts'
import type { HttpApps } from './http.ts'

/** How long a stopping server keeps an idle connection of a proxy, for a request that is already on its way. */
const LAST_USE_MS = 1_000

export interface Addresses {
  readonly url: string
  readonly wsUrl: string
}

/** Adds both addresses to the lifecycle. What is returned says where they are, once they have been opened. */
export function addEndpoints(
  { config, lifecycle }: Base,
  { apps, wsServer }: { readonly apps: HttpApps; readonly wsServer: HttpServer },
): () => Addresses {
  const isBehindProxy = config.limits.trustedProxies > 0
  const httpServer = new HttpServer({ isBehindProxy })
  // Several processes without matches may share an address: it does not matter which of them a socket reaches.
  const reusePort = !config.roles.includes('rooms') && process.platform === 'linux'
  const { host } = config
  lifecycle.add({
    name: 'http-server',
    kind: 'endpoint',
    start: async () => {
      await wsServer.listen(apps.ws, { host, reusePort, port: config.wsPort })
      await httpServer.listen(apps.rest, { host, reusePort, port: config.port })
    },
    drain: () => httpServer.shut(),
    stop: () => httpServer.close(isBehindProxy ? LAST_USE_MS : 0),
  })
  return () => ({
    url: `http://${host}:${httpServer.port}`,
    wsUrl: config.publicWsUrl ?? `ws://${host}:${wsServer.port}`,
  })
}
