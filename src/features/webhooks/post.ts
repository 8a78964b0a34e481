/**
 * Sends what a webhook is told. Where only public addresses are allowed, the address that is connected to is the one
 * that was looked at, so that a name cannot lead inside after it was checked. No redirect is followed.
 */
import { lookup, type LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { Agent as PlainAgent, request as plainRequest, type RequestOptions } from 'node:http'
import { Agent, request } from 'node:https'
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net'
import type { WebhookTargets } from '../../variables.ts'

/** Asked without a thread: the system's look-ups share two, which every new connection of the process needs. */
export interface NameServers {
  resolve4(name: string): Promise<string[]>
  resolve6(name: string): Promise<string[]>
}

const LOOK_UP = { timeout: 1_500, tries: 2 }
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
  /** From the first byte to the end of the answer. Waiting for a connection counts. */
  readonly timeoutMs: number
  /** Connections to one host; two if left out. */
  readonly sockets?: number
  /** Those of the system if left out. */
  readonly nameServers?: NameServers
}

export class Poster {
  readonly #options: PosterOptions
  readonly #closing = new AbortController()
  readonly #lookup: LookupFunction
  readonly #agents: { readonly 'http:': PlainAgent; readonly 'https:': Agent }

  constructor(options: PosterOptions) {
    this.#options = options
    this.#lookup = lookupOf(options.nameServers ?? new Resolver(LOOK_UP), options.targets)
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
    const problem = this.#closing.signal.aborted ? 'this process is stopping' : this.problemOf(url)
    if (problem !== null) return Promise.reject(new Error(problem))
    const isPlain = url.protocol === 'http:'
    const options: RequestOptions = {
      method: 'POST',
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      signal: AbortSignal.any([AbortSignal.timeout(this.#options.timeoutMs), this.#closing.signal]),
      lookup: this.#lookup,
    }
    return new Promise((resolve, reject) => {
      const sent = isPlain
        ? plainRequest(url, { ...options, agent: this.#agents['http:'] })
        : request(url, { ...options, agent: this.#agents['https:'] })
      sent.on('error', reject)
      // The promise settles by then, whatever the host does.
      options.signal?.addEventListener('abort', () => reject(new Error('no answer in time')))
      sent.on('upgrade', (response, socket) => {
        socket.destroy()
        resolve(response.statusCode ?? 0)
      })
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

  /** Cuts every connection, also those in use, and makes no other: what waits for one fails. */
  close(): void {
    this.#closing.abort()
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

/**
 * Looks names up. Of public targets all addresses must be public. A name without a dot is one of the machine or its
 * network, which only the system knows.
 */
function lookupOf(nameServers: NameServers, targets: WebhookTargets): LookupFunction {
  const found = async (hostname: string): Promise<LookupAddress[]> => {
    const [four, six] = await Promise.allSettled([nameServers.resolve4(hostname), nameServers.resolve6(hostname)])
    const addresses = [
      ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
    ]
    if (addresses.length === 0) throw new Error(`${hostname} was not found`)
    if (targets === 'any' || addresses.every(({ address }) => isPublic(address))) return addresses
    throw new Error(`${hostname} does not lead to public addresses alone`)
  }
  return (hostname, options, done) => {
    if (targets === 'any' && !hostname.includes('.')) return lookup(hostname, options, done)
    found(hostname).then(
      (addresses) => {
        const [first] = addresses
        return options.all === true ? done(null, addresses) : done(null, first?.address ?? '', first?.family)
      },
      (error: Error) => done(error, []),
    )
  }
}
