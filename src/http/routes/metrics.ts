/** `GET /metrics`, for Prometheus, on both addresses. Hidden from the public: it shows how busy the server is. */
import { BlockList, isIPv6 } from 'node:net'
import { Hono } from 'hono'
import { answerWith, fail, type HttpEnv } from '../answers.ts'
import type { HttpDeps } from '../ports.ts'

/** RFC 1918, RFC 6598, RFC 4193, loopback and link-local addresses. */
const PRIVATE = new BlockList()
for (const [net, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
] as const) {
  PRIVATE.addSubnet(net, prefix, 'ipv4')
}
for (const [net, prefix] of [
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
] as const) {
  PRIVATE.addSubnet(net, prefix, 'ipv6')
}

const isPrivate = (address: string): boolean => PRIVATE.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')

/**
 * Answers 404 to callers that may not see it. With `private` those are sockets from public addresses, and requests that
 * a proxy has forwarded, because the address of the proxy says nothing about the caller.
 */
export function metricsText({ access, contentType, text }: HttpDeps['metrics']) {
  return new Hono<HttpEnv>().get('/metrics', async (c) => {
    const peer = c.env?.incoming?.socket.remoteAddress ?? ''
    const isForwarded = c.req.header('x-forwarded-for') !== undefined || c.req.header('forwarded') !== undefined
    const isAllowed = access === 'open' || (access === 'private' && !isForwarded && isPrivate(peer))
    if (!isAllowed) return fail(c, answerWith('NOT_FOUND'))
    return c.body(await text(), 200, { 'Content-Type': contentType })
  })
}
