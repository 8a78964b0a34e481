/** The contract of every MatchStore about positions that are closed in parts. */
import { describe, expect, it } from 'vitest'
import { type FixtureId, positionId, type UserId } from '../../actors/kernel/ids.ts'
import { lots, type Money, money } from '../../actors/kernel/micros.ts'
import type { MatchEvent } from '../../actors/match/messages.ts'
import type { Batch, Holding, KeyedCommand, MatchStore, Verdict } from '../../actors/match/store.ts'
import { lessPart, type Position, split } from '../../actors/position/position.ts'
import { commandId } from '../../src/http/command-ids.ts'
import { closed, opened, p, u } from '../support/fixtures.ts'

/** A match at a store, with an instrument that costs 200. */
export interface Stage {
  readonly store: MatchStore
  readonly matchId: FixtureId
  newUser(this: void, balance: Money): Promise<UserId>
  newId(this: void): string
  audit(this: void): Promise<{ imbalance: number; mismatched: number }>
  commit(this: void, events: readonly MatchEvent[], over?: Partial<Batch>): Promise<Verdict>
  position(this: void, userId: UserId, over?: Partial<Position>): Position
}

export const balances = (verdict: Verdict) =>
  verdict.kind === 'committed' ? [...verdict.wallets.values()].map((w) => [w.balance, w.marginUsed]) : verdict

/** Watches a user in one match; the store adds what they hold in others. */
export const watching = (userId: UserId, openPositions = 0): readonly [Holding] => [
  { userId, purse: 'main', openPositions, unrealizedPnl: money(0) },
]

/** The events of closing a part, with what they leave. */
function partClosed(whole: Position, id: string, size: number, at: number) {
  const { part, rest } = split(whole, positionId(id), lots(size))
  const close = closed(part, at)
  const left = lessPart(rest, close.position)
  const events: MatchEvent[] = [{ kind: 'position_split', position: left, part }, close]
  return { events, closed: close.position, left }
}

export function partsContract(stage: () => Promise<Stage>): void {
  describe('parts', () => {
    const closing = (userId: UserId, key: string, result: KeyedCommand['result']): KeyedCommand => ({
      userId,
      purse: 'main',
      idempotency: { id: commandId(userId, 'close', key), fingerprint: `digest of ${key}` },
      result,
    })

    it('[T38] a part pays its share of the margin and its profit, and the rest stays open with the sums of its parts', async () => {
      const { store, commit, position, matchId, newUser, newId, audit } = await stage()
      const user = await newUser(money(u(10_000)))
      const whole = position(user, { stopLoss: p(190), warned: 50 })
      await commit([opened(whole)])
      const first = partClosed(whole, newId(), u(0.3), 220)
      expect(balances(await commit(first.events, { watch: watching(user, 1) }))).toEqual([[u(9_960), u(70)]])
      const second = partClosed(first.left, newId(), u(0.2), 190)
      expect(balances(await commit(second.events, { watch: watching(user, 1) }))).toEqual([[u(9_970), u(50)]])
      expect((await store.load(matchId))?.openPositions).toEqual([second.left])
      expect(second.left).toMatchObject({
        id: whole.id,
        lots: u(0.5),
        margin: u(50),
        stopLoss: p(190),
        warned: 50,
        parted: { lots: u(0.5), margin: u(50), pnl: u(20), baseMove: u(20) },
      })
      const ended = await commit([closed(second.left, 200)], { watch: watching(user) })
      expect(balances(ended)).toEqual([[u(10_020), 0]])
      expect((await store.load(matchId))?.openPositions).toEqual([])
      expect(await audit()).toEqual({ imbalance: 0, mismatched: 0 })
    })

    it('[T38] at the limit of open positions a part can be closed', async () => {
      const { commit, position, newUser, newId } = await stage()
      const user = await newUser(money(u(10_000)))
      const whole = position(user)
      await commit([opened(whole)])
      const { events } = partClosed(whole, newId(), u(0.5), 200)
      expect((await commit(events, { openPositionsMax: 1, watch: watching(user, 1) })).kind).toBe('committed')
    })

    it('[T38] a part of what is not open is a fault, and nothing is written', async () => {
      const { commit, position, newUser, newId, audit } = await stage()
      const user = await newUser(money(u(10_000)))
      const whole = position(user)
      await commit([opened(whole)])
      await commit([closed(whole, 200)])
      await expect(commit(partClosed(whole, newId(), u(0.5), 210).events)).rejects.toThrow()
      expect(balances(await commit([], { watch: watching(user) }))).toEqual([[u(10_000), 0]])
      expect(await audit()).toEqual({ imbalance: 0, mismatched: 0 })
    })

    it('[A5] the answer to the close of a part is repeated as it was, whatever becomes of the rest', async () => {
      const { store, commit, position, newUser, newId } = await stage()
      const user = await newUser(money(u(10_000)))
      const whole = position(user, { stopLoss: p(190) })
      await commit([opened(whole)])
      const first = partClosed(whole, newId(), u(0.3), 220)
      const { parted: _, ...rest } = first.left
      const result = {
        position: first.closed,
        price: p(201),
        exitPrice: p(220),
        rest: { position: rest, exitPrice: p(200.5) },
      }
      const keyed = [closing(user, 'part', result)]
      expect((await commit(first.events, { keyed, watch: watching(user, 1) })).kind).toBe('committed')
      const later = { ...first.left, stopLoss: p(180) }
      await commit([{ kind: 'levels_changed', position: later }])
      const second = partClosed(later, newId(), u(0.2), 190)
      await commit(second.events)
      await commit([closed(second.left, 210)])
      const { idempotency } = closing(user, 'part', null)
      const stored = await store.recall(user, idempotency)
      expect(stored).toMatchObject({ fingerprint: 'digest of part', result, wallet: { balance: u(9_960) } })
      const again = await commit([], { keyed, watch: watching(user) })
      expect(again).toMatchObject({ kind: 'rejected', failures: [{ kind: 'key_used', stored: { result } }] })
    })

    it('[A5] the answer to an opening is repeated with the size that was opened', async () => {
      const { store, commit, position, newUser, newId } = await stage()
      const user = await newUser(money(u(10_000)))
      const id = commandId(user, 'open', 'whole')
      const whole = position(user, { id: positionId(id) })
      const idempotency = { id, fingerprint: 'digest of whole' }
      const result = { position: whole, price: p(201), exitPrice: p(200.5) }
      await commit([opened(whole)], { keyed: [{ userId: user, purse: 'main', idempotency, result }] })
      const first = partClosed(whole, newId(), u(0.3), 220)
      await commit(first.events)
      await commit(partClosed(first.left, newId(), u(0.1), 220).events)
      expect((await store.recall(user, idempotency))?.result).toEqual(result)
    })
  })
}
