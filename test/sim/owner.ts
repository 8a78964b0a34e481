/** One incarnation of a match actor, and what the simulation has done to it. */
import { createHash } from 'node:crypto'
import type { InstrumentId } from '../../actors/kernel/ids.ts'
import type { MatchActor } from '../../actors/match/actor.ts'
import type { MovableClose } from '../../actors/match/protection/closes.ts'
import { MatchState, type MatchView } from '../../actors/match/state.ts'
import type { MatchRecord } from '../../actors/match/store.ts'
import { canonical } from './violation.ts'

export interface Owner {
  readonly actor: MatchActor
  readonly epoch: number
  /** The slot of its match. */
  readonly slot: number
  /**
   * Stalled: it does not know that another owner has taken over. Stopped: it stopped itself, but requests may still
   * reach it. Gone: no request can.
   */
  standing: 'serving' | 'stalled' | 'stopped' | 'gone'
  /** The prices it has published; a missing instrument was published with its listing. */
  readonly published: Map<InstrumentId, number>
  /** Its store has failed it, so it must stop. */
  failed: boolean
  /** Its state in short form after its last legitimate change. */
  glance: string
}

/**
 * A digest of everything that a match must remember: two actors with the same digest behave the same. Published prices
 * are not part of it, since a restart publishes them again.
 */
export function stateHash(view: MatchView): string {
  const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1)
  const text = canonical({
    info: view.info,
    pricing: view.pricing,
    instruments: [...view.instruments()].toSorted(byId).map((i) => ({ ...i, published: 0 })),
    positions: [...view.openPositions()].toSorted(byId),
    movable: movableOf(view),
  })
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** Closes that stand already, as later ones show, may be remembered or not. */
function movableOf(view: MatchView): readonly MovableClose[] {
  const closes = [...view.movableCloses()]
  const now = Math.max(...closes.map(({ position }) => position.close.at))
  const byId = (a: MovableClose, b: MovableClose): number => (a.position.id < b.position.id ? -1 : 1)
  return closes.filter(({ until }) => until > now).toSorted(byId)
}

export const recordHash = (record: MatchRecord): string => stateHash(new MatchState(record))

/** The changeable state in short form, cheap enough to compare after every step. */
export function glanceAt(view: MatchView): string {
  const { info } = view
  const parts = [info.feedSeq, info.phase, info.settling, info.settledAt]
  const instruments = [...view.instruments()].map((i) =>
    [i.base, i.imbalance, i.endedImbalance, i.leavingFrom, i.impactCapPpm, i.settlement].join(),
  )
  const positions = [...view.openPositions()].map((p) => [p.id, p.stopLoss, p.takeProfit, p.warned].join())
  return [parts.join(), ...instruments, ...positions].join(' ')
}
