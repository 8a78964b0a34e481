/**
 * Sends what a webhook is told. Where only public addresses are allowed, the address that is connected to is the one
 * that was looked at, so that a name cannot lead inside after it was checked. No redirect is followed.
 */
import { lookup as lookUp, type LookupAddress } from 'node:dns'
import { Agent as PlainAgent, request as plainRequest, type RequestOptions } from 'node:http'
import { Agent, request } from 'node:https'
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net'
import type { WebhookTargets } from '../../variables.ts'

/** Answers are not read beyond this. */
const ANSWER_BYTES_MAX = 64 * 1_024
const SOCKETS = 2

export interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** One whose body may be bytes. */
type AnyPost = Omit<Post, 'body'> & { readonly body: string | Uint8Array }

export interface PosterOptions {
  readonly targets: WebhookTargets
  /** From the first byte to the end of the answer. A post that waits for a connection spends this, too. */
  readonly timeoutMs: number
  /** Connections to one host; two if left out. */
  readonly sockets?: number
}

export class Poster {
  readonly #options: PosterOptions
  #isClosed = false
  readonly #agents: { readonly 'http:': PlainAgent; readonly 'https:': Agent }

  constructor(options: PosterOptions) {
    this.#options = options
    const kept = { keepAlive: true, maxSockets: options.sockets ?? SOCKETS, timeout: options.timeoutMs }
    this.#agents = { 'http:': new PlainAgent(kept), 'https:': new Agent(kept) }
  }

  /** Why an address is refused whatever its name leads to; null if it is not. */
  problemOf(url: URL): string | null {
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an https:// address'
    if (url.username !== '' || url.password !== '') return 'must not contain a user or password'
    if (this.#options.targets === 'any') return null
    if (url.protocol !== 'https:') return 'must be an https:// address'
    const host = hostOf(url)
    return isIP(host) !== 0 && !isPublic(host) ? 'must lead to a public address' : null
  }

  /** The status of the answer. Throws when it has not ended in time, or the address is refused. */
  send({ url: text, headers, body }: AnyPost): Promise<number> {
    const url = new URL(text)
    const problem = this.#isClosed ? 'this process is stopping' : this.problemOf(url)
    if (problem !== null) return Promise.reject(new Error(problem))
    const isPlain = url.protocol === 'http:'
    const options: RequestOptions = {
      method: 'POST',
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      signal: AbortSignal.timeout(this.#options.timeoutMs),
      ...(this.#options.targets === 'any' ? {} : { lookup: publicLookup }),
    }
    return new Promise((resolve, reject) => {
      const sent = isPlain
        ? plainRequest(url, { ...options, agent: this.#agents['http:'] })
        : request(url, { ...options, agent: this.#agents['https:'] })
      sent.on('error', reject)
      sent.on('response', (response) => {
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          // What it says beyond the status is of no interest.
          if (bytes > ANSWER_BYTES_MAX) response.destroy()
        })
        response.on('error', () => undefined)
        response.on('close', () => {
          const isRead = response.complete || bytes > ANSWER_BYTES_MAX
          return isRead ? resolve(response.statusCode ?? 0) : reject(new Error('the answer did not end in time'))
        })
      })
      sent.end(body)
    })
  }

  /** Cuts every connection, also those in use, and makes no other. */
  close(): void {
    this.#isClosed = true
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')

/** IPv4 that does not lead to one host of the Internet (IANA special-purpose registry). */
const SPECIAL = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  SPECIAL.addSubnet(net, bits, 'ipv4')
/** Global IPv6 is in 2000::/3; these parts of it are documentation, or carry IPv4 inside. */
const GLOBAL = new BlockList()
GLOBAL.addSubnet('2000::', 3, 'ipv6')
for (const [net, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  SPECIAL.addSubnet(net, bits, 'ipv6')

/** Whether an IP address is one of the Internet, and not of a private, local or special network. */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !SPECIAL.check(address, 'ipv4')
  return isIP(address) === 6 && GLOBAL.check(address, 'ipv6') && !SPECIAL.check(address, 'ipv6')
}

/** Looks a name up, and fails if any of its addresses is not public. */
const publicLookup: LookupFunction = (hostname, options, done) => {
  lookUp(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    if (error !== null) return done(error, [])
    if (found.length === 0 || !found.every(({ address }) => isPublic(address)))
      return done(new Error(`${hostname} does not lead to public addresses alone`), [])
    const [first] = found
    return options.all === true ? done(null, found) : done(null, first?.address ?? '', first?.family)
  })
}
