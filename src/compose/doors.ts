/** The doors of the WebSocket address: who may hold a socket, and how often who may knock. */
import { MINUTE_MS } from '../../actors/kernel/world.ts'
import { isAway } from '../../db/faults.ts'
import { Rates } from '../../db/rates.ts'
import type { DoorLimits } from '../../rooms/sockets/door.ts'
import { createSocketVisitors, type SocketVisitors } from '../auth/socket-visitors.ts'
import { clientAddress, siteOf } from '../http/client-address.ts'
import type { Accounts } from './accounts.ts'
import type { Base } from './base.ts'
import type { Market } from './market.ts'

/** Handshakes and requests for seats of one user; a client that has lost ten sockets is back with a few of them. */
const PER_USER_A_MINUTE = 60

export interface Doors {
  readonly visitors: SocketVisitors
  readonly limits: DoorLimits
  /** Counts in this process alone: it would cost a round trip to the fast store for each of thousands who come back. */
  readonly rates: Rates
}

export function buildDoors({ config, world }: Base, { accounts, market }: Parts): Doors {
  const { perMinute, siteFactor, trustedProxies } = config.limits
  const rates = new Rates((_shared, alone) => alone(), world.steady)
  const isWithin = async (name: string, caller: string, limit: number): Promise<boolean> => {
    if (perMinute === 0) return true
    try {
      return (await rates.hit(name, caller, MINUTE_MS)).count <= limit
    } catch (error) {
      // More callers than it can count knock in a minute. Those it counts stay limited; the door paces the others.
      if (!isAway(error)) throw error
      return true
    }
  }
  const isWithinSite = async (address: string): Promise<boolean> => {
    const site = siteFactor === 0 ? null : siteOf(address)
    if (!(await isWithin('handshakes', address, perMinute))) return false
    return site === null || isWithin('handshakes', site, perMinute * siteFactor)
  }
  return {
    rates,
    limits: {
      admitsAddress: ({ socket, headers }) => {
        // Node joins several of these headers into one.
        const forwardedFor = headers['x-forwarded-for']?.toString()
        const address = clientAddress({ peer: socket.remoteAddress, forwardedFor }, trustedProxies)
        return isWithinSite(address)
      },
      admitsUser: (user) => isWithin('handshakes-user', user, PER_USER_A_MINUTE),
    },
    visitors: createSocketVisitors({
      sessions: accounts.sessions,
      adminsAmong: (users) => accounts.users.adminsAmong(users),
      flags: () => market.settings.flags,
    }),
  }
}

interface Parts {
  readonly accounts: Accounts
  readonly market: Market
}
