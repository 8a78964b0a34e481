/** The address that rate limits count a request by. */
import { isIP, isIPv6 } from 'node:net'

export interface Hops {
  /** The other end of the socket. */
  readonly peer: string | undefined
  /** `X-Forwarded-For`: each proxy appends the address it was called from. Entries before those may be forged. */
  readonly forwardedFor: string | undefined
}

/**
 * The address of a client behind this many trusted proxies; with 0 only the socket counts. IPv6 counts by /64, because
 * one household or one attacker has that much. If the header has no valid address there, the socket's counts.
 */
export function clientAddress({ peer = '', forwardedFor = '' }: Hops, trustedProxies: number): string {
  if (trustedProxies > 0 && forwardedFor !== '') {
    const hops = forwardedFor.split(',')
    const claimed = network(hops[Math.max(0, hops.length - trustedProxies)] ?? '')
    if (claimed !== null) return claimed
  }
  return network(peer) ?? 'unknown'
}

/** The part of a request that says where it came from. */
export interface Requested {
  readonly req: { header(name: string): string | undefined }
  readonly env: { readonly incoming?: { readonly socket: { readonly remoteAddress?: string | undefined } } } | undefined
}

/** The address of the client of a request. */
export const addressOf = ({ req, env }: Requested, trustedProxies: number): string =>
  clientAddress(
    { peer: env?.incoming?.socket.remoteAddress, forwardedFor: req.header('x-forwarded-for') },
    trustedProxies,
  )

/** The /48 of an IPv6 client: what one site is given, with 65,536 networks in it. Null for every other caller. */
export const siteOf = (address: string): string | null => (address.endsWith('::/64') ? addressPrefix(address) : null)

/** The network of a client's address, to be kept where the whole address must not be: IPv4 by /24, IPv6 by /48. */
export function addressPrefix(address: string): string {
  if (isIP(address) === 4) return `${address.split('.').slice(0, 3).join('.')}.0/24`
  if (!address.endsWith('::/64')) return address
  return `${address.slice(0, -'::/64'.length).split(':').slice(0, 3).join(':')}::/48`
}

const MAPPED = /^::ffff:(?=\d+\.)/i
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/

/** IPv4 unchanged, IPv6 as its /64, null for anything else. */
function network(text: string): string | null {
  const trimmed = text.trim()
  const [, bracketed, dotted] = WITH_PORT.exec(trimmed) ?? []
  const address = (bracketed ?? dotted ?? trimmed).replace(MAPPED, '')
  if (isIP(address) === 4) return address
  return isIPv6(address) ? prefix64(address) : null
}

function prefix64(address: string): string {
  const [plain = ''] = address.split('%') // without its zone
  // A URL has one spelling of an address: lower case, no leading zeros, IPv4 tails as groups.
  const spelt = new URL(`http://[${plain}]`).hostname.slice(1, -1)
  const [head = '', tail] = spelt.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right]
  return `${groups.slice(0, 4).join(':')}::/64`
}
