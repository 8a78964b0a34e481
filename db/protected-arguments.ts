/** What a match under protection commits besides (actors/match/protection). */
import { present } from '../actors/kernel/assert.ts'
import type { PositionId } from '../actors/kernel/ids.ts'
import type { Instant } from '../actors/kernel/world.ts'
import type { FillMoved } from '../actors/match/messages.ts'
import type { Batch } from '../actors/match/store.ts'
import type { Position } from '../actors/position/position.ts'
import type { ProtectedArguments } from './postgres/commit-batch.ts'
import { type AccountEvent, accountEvents, ofKind, type WalletChange, WalletMap } from './wallet-changes.ts'

export function protectedArguments(batch: Batch, wallets: readonly WalletChange[]): ProtectedArguments {
  const closed = ofKind(batch, 'position_closed')
  const moved = lastMoves(batch)
  const indexes = new WalletMap<number>()
  for (const [n, wallet] of wallets.entries()) indexes.set(wallet, n + 1)
  const held = heldBack(batch)
  const followers = new Map(
    accountEvents(batch.events)
      .filter(isCorrection)
      .map((e) => [e.position.id, e.followers]),
  )
  return {
    p_protected: JSON.stringify({
      w_held_back: wallets.map((wallet) => held.get(wallet) ?? 0),
      x_movable: closed.map(({ movableUntil }) => timeOf(movableUntil)),
      i_news: batch.instruments.map(({ instrument: { news } }) => (news === null ? null : JSON.stringify(news))),
      f_id: moved.map(({ position }) => position.id),
      f_wallet: moved.map(({ position }) => present(indexes.get(position) ?? null, 'wallet index')),
      f_open: moved.map(({ position }) => position.openPrice),
      f_open_base: moved.map(({ position }) => position.openBase),
      f_close: moved.map(({ position }) => position.close?.price ?? null),
      f_close_base: moved.map(({ position }) => position.close?.base ?? null),
      f_pnl: moved.map(({ position }) => position.close?.pnl ?? null),
      f_amount: moved.map(({ amount }) => amount),
      f_moved: moved.map(({ position }) => (position.moved === undefined ? null : JSON.stringify(position.moved))),
      f_movable: moved.map(({ movableUntil }) => timeOf(movableUntil)),
      f_followers: moved.map(({ position }) => followers.get(position.id) ?? 0),
    }),
  }
}

const timeOf = (at: Instant | null | undefined): string | null =>
  at === null || at === undefined ? null : new Date(at).toISOString()

const isCorrection = ({ kind }: AccountEvent): boolean => kind === 'corrected'

/** What the batch adds to the pay of closes that news may still move, by wallet. */
function heldBack(batch: Batch): WalletMap<number> {
  const held = new WalletMap<number>()
  const add = (position: Position, amount: number): void => {
    held.set(position, (held.get(position) ?? 0) + amount)
  }
  for (const { position, movableUntil } of ofKind(batch, 'position_closed')) {
    if (movableUntil !== undefined) add(position, paidFor(position))
  }
  for (const { position, before, movableUntil } of ofKind(batch, 'fill_moved')) {
    if (before.close === null) continue
    add(position, -paidFor(before))
    if (movableUntil !== null && movableUntil > batch.at) add(position, paidFor(position))
  }
  return held
}

const paidFor = ({ margin, close }: Position): number => margin + (close?.pnl ?? 0)

/**
 * Each position whose fills were moved, as it is after the batch. One that the batch closes after its fill was moved is
 * written as it was closed.
 */
function lastMoves(batch: Batch): readonly FillMoved[] {
  const last = new Map<PositionId, FillMoved>()
  for (const event of batch.events) {
    if (event.kind === 'fill_moved') last.set(event.position.id, event)
    else if (event.kind === 'position_split') {
      // The row of a part is made of that of its position, before any fill in it moves.
      const before = last.get(event.position.id)
      if (before !== undefined) last.set(event.part.id, { ...before, position: event.part })
    } else if (event.kind === 'position_closed') {
      const before = last.get(event.position.id)
      if (before === undefined) continue
      const { position, movableUntil } = event
      last.set(position.id, { ...before, position, movableUntil: movableUntil ?? null })
    }
  }
  return [...last.values()]
}
