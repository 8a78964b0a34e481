/** Where a request comes from, as far as it can be believed: what limits per address count by. */
import { isIP, isIPv6 } from 'node:net'

export interface Hops {
  /** The other end of the socket. */
  readonly peer: string | undefined
  /** `X-Forwarded-For`: each proxy has appended whom it heard; what is further to the left anybody may have written. */
  readonly forwardedFor: string | undefined
}

/**
 * The address of a client behind so many proxies of ours; 0 believes the socket alone. IPv6 counts by /64, because that
 * is what one household or one attacker has. What is no address counts as the socket's.
 */
export function clientAddress({ peer = '', forwardedFor = '' }: Hops, trustedProxies: number): string {
  if (trustedProxies > 0 && forwardedFor !== '') {
    const told = forwardedFor.split(',')
    const claimed = network(told[Math.max(0, told.length - trustedProxies)] ?? '')
    if (claimed !== null) return claimed
  }
  return network(peer) ?? 'unknown'
}

const MAPPED = /^::ffff:(?=\d+\.)/i
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/

/** IPv4 as it is, IPv6 as its /64, null for anything else. */
function network(text: string): string | null {
  const trimmed = text.trim()
  const [, bracketed, dotted] = WITH_PORT.exec(trimmed) ?? []
  const address = (bracketed ?? dotted ?? trimmed).replace(MAPPED, '')
  if (isIP(address) === 4) return address
  return isIPv6(address) ? prefix64(address) : null
}

function prefix64(address: string): string {
  const [plain = ''] = address.split('%') // without its zone
  // A URL spells an address in one way only: lower case, no leading zeros, IPv4 tails as groups.
  const spelt = new URL(`http://[${plain}]`).hostname.slice(1, -1)
  const [head = '', tail] = spelt.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right]
  return `${groups.slice(0, 4).join(':')}::/64`
}
