/** What this process has to do with the others: puts bus, peers and remote prices together. */
import type { FixtureId, UserId } from '../actors/kernel/ids.ts'
import type { World } from '../actors/kernel/world.ts'
import type { AccountStream, Notice } from './feed/account-stream.ts'
import { Bus, type ProcessId, type PubSub } from './cluster/bus.ts'
import type { FanOut } from './feed/fan-out.ts'
import type { RequestEnds } from './stats.ts'
import type { MatchDesk } from './match/match-desk.ts'
import type { HostedMatch } from './match/match-room.ts'
import { type Matchmaking, serveSeats } from './match/seats.ts'
import { type Ownership, Peers } from './cluster/peers.ts'
import { RemotePrices } from './cluster/remote-prices.ts'
import type { Report } from './report.ts'

export interface FarSideOptions {
  readonly ownership: Ownership
  readonly fanOut: FanOut
  readonly account: AccountStream
  readonly hosted: ReadonlyMap<FixtureId, HostedMatch>
  readonly world: World
  readonly report: Report
}

export interface LocalParts {
  readonly desk: MatchDesk
  readonly seats: Matchmaking
  readonly runsMatches: boolean
  readonly disconnect: (userId: UserId) => void
}

const TOPIC = { signedOut: 'signed-out', notices: 'notices' } as const

export interface FarSide {
  readonly peers: Peers
  readonly prices: RemotePrices
  readonly requests: Readonly<RequestEnds>
  /** From now on the others can reach what this process has. Rejects when the network of processes is away. */
  open(near: LocalParts): Promise<void>
  signedOut(userId: UserId): void
  notify(userId: UserId, notice: Notice): void
  close(): Promise<void>
}

/** Puts it together. Nothing is heard of the others, nor they of this process, until it is opened. */
export function farSide(
  { pubSub, processId }: { readonly pubSub: PubSub; readonly processId: ProcessId },
  options: FarSideOptions,
): FarSide {
  const { ownership, fanOut, account, hosted, world, report } = options
  const bus = new Bus({ pubSub, processId, report })
  const peers = new Peers({ bus, ownership, world })
  const isHere = (matchId: FixtureId): boolean => hosted.get(matchId)?.leaving === null
  const logAppended = (userId: UserId): void => account.logAppended(userId)
  const prices = new RemotePrices({ bus, peers, fanOut, isHere, logAppended, report })
  return {
    peers,
    prices,
    requests: bus.ends,
    async open({ desk, seats, runsMatches, disconnect }) {
      await bus.open()
      serveSeats(peers, seats)
      await prices.open((matchId) => (isHere(matchId) ? hosted.get(matchId)?.source : undefined))
      await bus.hear(TOPIC.signedOut, (message) => disconnect(message.toString() as UserId))
      await bus.hear(TOPIC.notices, (message) => {
        const { userId, notice } = JSON.parse(message.toString()) as { userId: UserId; notice: Notice }
        account.publish(userId, notice)
      })
      if (runsMatches) await peers.open(desk)
    },
    signedOut: (userId) => bus.tell(TOPIC.signedOut, Buffer.from(userId)),
    notify: (userId, notice) => bus.tell(TOPIC.notices, Buffer.from(JSON.stringify({ userId, notice }))),
    close: () => bus.close(),
  }
}
