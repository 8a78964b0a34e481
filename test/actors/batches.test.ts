import { describe, expect, it } from 'vitest'
import type { UserId } from '../../actors/kernel/ids.ts'
import { ROUNDS_MAX } from '../../actors/kernel/limits.ts'
import { lots, money } from '../../actors/kernel/micros.ts'
import type { Batch, MatchStore, Verdict } from '../../actors/match/store.ts'
import { ActorRig, codeOf, ok } from '../support/actor-rig.ts'
import { P, p, U, u } from '../support/fixtures.ts'
import { committing } from '../support/committing.ts'

/** The store, with every call of it on record, and each answered by `instead` where that gives a verdict. */
function recorded(instead: (batch: Batch, n: number) => Verdict | null = () => null) {
  const batches: Batch[] = []
  const wrap = (store: MatchStore): MatchStore =>
    committing(store, async (batch) => instead(batch, batches.push(batch)) ?? store.commit(batch))
  return { batches, wrap }
}

const openedIn = (batch: Batch | undefined): UserId[] =>
  (batch?.events ?? []).flatMap((event) => (event.kind === 'position_opened' ? [event.position.userId] : []))

describe('a batch with orders that cannot be paid', () => {
  it('[A13] 300 who each get too poor by the removal of the one before take two commits', async () => {
    const { batches, wrap } = recorded()
    // Shorts: the first fills highest, for a little more than the wallet holds.
    const stage = await ActorRig.set({ users: 300, balance: money(u(99.995)), wrap })
    const orders = Array.from({ length: 300 }, (_, n) =>
      stage.opens({ userId: U(n + 1), direction: 'short', lots: lots(u(1)) }),
    )
    const codes = (await Promise.all(orders)).map(codeOf)
    expect(new Set(codes)).toEqual(new Set(['insufficient_margin']))
    expect(batches.length).toBeLessThanOrEqual(2)
  })

  it('[A13] 100 who can pay among 300 who cannot all get their trade, as if they were alone', async () => {
    const { batches, wrap } = recorded()
    const stage = await ActorRig.set({ users: 400, wrap })
    const order = (n: number) => ({ userId: U(n + 1), lots: lots(u(n % 4 === 0 ? 0.25 : 100)) })
    const outcomes = await Promise.all(Array.from({ length: 400 }, (_, n) => stage.opens(order(n))))
    const paid = outcomes.flatMap((outcome) => (outcome.ok ? [outcome.value.position.openPrice] : []))
    expect(paid).toEqual(Array.from({ length: 100 }, (_, n) => 200_001_250 + n * 2_500))
    expect(batches.length).toBeLessThanOrEqual(ROUNDS_MAX)
  })

  it('[A13] an order turned down beside one that nobody can pay is decided again without that', async () => {
    const stage = await ActorRig.set()
    const tooMuch = stage.opens({ userId: U(1), lots: lots(u(100)) })
    const justEnough = stage.opens({ userId: U(2), lots: lots(u(99.84)) })
    expect(await tooMuch).toMatchObject({ refusal: { code: 'insufficient_margin', maxLots: u(99.84) } })
    expect(codeOf(await justEnough)).toBe('ok')
  })

  it('[A13] what the batch has closed of a user counts as theirs', async () => {
    const stage = await ActorRig.set({ users: 4, balance: money(u(1_000)) })
    ok(await stage.opens({ userId: U(1), lots: lots(u(9)), stopLoss: p(199.9) }))
    const outcomes = await Promise.all([
      stage.opens({ userId: U(2), direction: 'short', lots: lots(u(9.9)) }),
      stage.opens({ userId: U(3), direction: 'short', lots: lots(u(9.99)) }),
      stage.opens({ userId: U(4), instrumentId: P(2), lots: lots(u(100)) }),
      stage.opens({ userId: U(1), instrumentId: P(2), lots: lots(u(9)) }),
    ])
    expect(outcomes.map(codeOf)).toEqual(['ok', 'ok', 'insufficient_margin', 'ok'])
  })

  it('[A13] the limit of positions is kept within what a rejection shows', async () => {
    const stage = await ActorRig.set({ rules: { openPositionsMax: 1 } })
    ok(await stage.opens({ userId: U(1) }))
    const outcomes = await Promise.all([stage.opens({ userId: U(1) }), stage.opens({ userId: U(2) })])
    expect(outcomes.map(codeOf)).toEqual(['position_limit', 'ok'])
  })

  it('[A13] a wallet that other matches keep changing is asked to come back, and nobody waits for it', async () => {
    const { batches, wrap } = recorded((batch) => {
      const available = money(u(1))
      if (!openedIn(batch).includes(U(1))) return null
      // The store has seen less than it reported: a trade in another match came between.
      return {
        kind: 'rejected',
        failures: [{ kind: 'insufficient_margin', userId: U(1), available }],
        wallets: [{ userId: U(1), purse: 'main', available: money(u(1_000)), openPositions: 0 }],
      }
    })
    const stage = await ActorRig.set({ wrap })
    const outcomes = await Promise.all([stage.opens({ userId: U(1) }), stage.opens({ userId: U(2) }), stage.moves()])
    expect(outcomes.map((outcome) => (typeof outcome === 'boolean' ? outcome : codeOf(outcome)))).toEqual([
      'busy',
      'ok',
      true,
    ])
    expect(batches.map((batch) => openedIn(batch).length)).toEqual([2, 2, 2, 1, 0])
  })
})
