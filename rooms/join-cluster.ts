/** Joins this process to the cluster: bus, peers, remote prices, presence. */
import type { FixtureId, UserId } from '../actors/kernel/ids.ts'
import type { World } from '../actors/kernel/world.ts'
import { Bus, type ProcessId, type PubSub } from './cluster/bus.ts'
import { type Ownership, Peers } from './cluster/peers.ts'
import { Presence, type Registry } from './cluster/presence.ts'
import { PROTOCOL } from './cluster/protocol.ts'
import { RemotePrices } from './cluster/remote-prices.ts'
import type { AccountStream, Notice } from './feed/account-stream.ts'
import type { FanOut } from './feed/fan-out.ts'
import type { MatchDesk } from './match/match-desk.ts'
import type { HostedMatch } from './match/match-room.ts'
import { type Matchmaking, serveSeats } from './match/seats.ts'
import type { Report } from './report.ts'
import type { RequestEnds } from './stats.ts'

export interface ClusterOptions {
  readonly pubSub: PubSub
  readonly processId: ProcessId
  readonly registry: Registry
  readonly ownership: Pick<Ownership, 'ownerOf'>
  readonly fanOut: FanOut
  readonly account: AccountStream
  readonly hosted: ReadonlyMap<FixtureId, HostedMatch>
  readonly world: World
  readonly report: Report
}

/** The parts of this process that serve the others. */
export interface LocalParts {
  readonly desk: MatchDesk
  readonly seats: Matchmaking
  readonly runsMatches: boolean
  readonly signedOut: (userId: UserId) => void
}

export interface ClusterMember {
  readonly peers: Peers
  readonly prices: RemotePrices
  readonly requests: Readonly<RequestEnds>
  /** Set once this process is open to the others. */
  presence(): Presence | null
  /** From now on the other processes can reach this one. Rejects when publish/subscribe is unavailable. */
  open(parts: LocalParts): Promise<void>
  signedOut(userId: UserId): void
  notify(userId: UserId, notice: Notice): void
  close(): Promise<void>
}

/** Nothing is received from the other processes, and they cannot reach this one, before `open`. */
export function clusterMember(options: ClusterOptions): ClusterMember {
  const { pubSub, processId, registry, ownership, fanOut, account, hosted, world, report } = options
  const bus = new Bus({ pubSub, processId, protocol: PROTOCOL, report })
  const peers = new Peers({ bus, ownership, world })
  const logAppended = (userId: UserId): void => account.logAppended(userId)
  const prices = new RemotePrices({ bus, peers, fanOut, hosted, logAppended, report })
  let presence: Presence | null = null
  return {
    peers,
    presence: () => presence,
    prices,
    requests: bus.ends,
    async open({ desk, seats, runsMatches, signedOut }) {
      await bus.open()
      serveSeats(peers, seats)
      await prices.open()
      await bus.subscribe('signed-out', signedOut)
      await bus.subscribe('notices', ({ userId, notice }) => account.publish(userId, notice))
      if (runsMatches) await peers.open(desk)
      const opened = new Presence({ pubSub, bus, registry, matches: desk, world, report })
      await opened.open()
      presence = opened
    },
    signedOut: (userId) => bus.publish('signed-out', userId),
    notify: (userId, notice) => bus.publish('notices', { userId, notice }),
    close: async () => {
      await presence?.close()
      await bus.close()
    },
  }
}
