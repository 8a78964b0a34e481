/** The contract of every MatchStore. Ids differ per store, since stores may share a database. */
import { describe, expect, it } from 'vitest'
import { fixtureId, type FixtureId, positionId, type UserId } from '../../actors/kernel/ids.ts'
import { lots, type Money, money } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import type { Batch, Holding, KeyedCommand, Leases, MatchStore, Verdict } from '../../actors/match/store.ts'
import type { KeyedRoute, MatchEvent, PriceMoved } from '../../actors/match/messages.ts'
import { type Position, realisedPnl } from '../../actors/position/position.ts'
import { type Instrument, quoteOf } from '../../actors/market/instrument.ts'
import { MatchState } from '../../actors/match/state.ts'
import { EMPTY_PRICING } from '../../actors/market/pricing.ts'
import { commandId } from '../../src/http/command-ids.ts'
import { closed, held, info, instrument, KICK_OFF, opened, p, u } from '../support/fixtures.ts'
import { balances, partsContract, watching } from './parts.ts'
import { protectionContract } from './protection.ts'

export interface StoreUnderTest {
  readonly store: MatchStore
  readonly leases: Leases
  /** A new user with a wallet. */
  newUser(this: void, balance: Money): Promise<UserId>
  newId(this: void): string
  audit(this: void): Promise<{ imbalance: number; mismatched: number }>
}

let fixtures = 71_000

export function matchStoreContract(open: () => Promise<StoreUnderTest>): void {
  /** A live match with one instrument, owned at the current epoch, and a function that commits to it. */
  async function stage() {
    const kit = await open()
    const matchId = fixtureId(++fixtures)
    const epoch = (await kit.leases.acquire(matchId)) ?? 0
    const listed = instrument(1, { impactCapPpm: 0, id: kit.newId() as Instrument['id'] })
    const match = info({ matchId })
    const at = instant(KICK_OFF)
    const commit = (events: readonly MatchEvent[], over: Partial<Batch> = {}): Promise<Verdict> => {
      const state = new MatchState({
        info: match,
        pricing: EMPTY_PRICING,
        instruments: [listed],
        openPositions: [],
      })
      const users = events.flatMap((e) => ('position' in e ? [e.position.userId] : []))
      return kit.store.commit({
        id: kit.newId(),
        matchId,
        epoch,
        at,
        events,
        instruments: [...state.instruments()].map((i) => ({ instrument: i, price: quoteOf(i).price })),
        ticks: [],
        keyed: [],
        watch: [...new Set(users)].map(withNothing),
        openPositionsMax: DEFAULT_RULES.openPositionsMax,
        ...over,
      })
    }
    const first = await commit([
      { kind: 'match_updated', info: match, pricing: EMPTY_PRICING },
      { kind: 'instrument_listed', instrument: listed },
    ])
    expect(first.kind).toBe('committed')
    return { ...kit, matchId, epoch, at, listed, match, commit, position: positionsOf(kit, matchId, listed) }
  }

  const keyedAs = (userId: UserId, key: string, result: KeyedCommand['result']): KeyedCommand => ({
    userId,
    purse: 'main',
    idempotency: { id: commandId(userId, 'open', key), fingerprint: `digest of ${key}` },
    result,
  })
  /** A position that was opened under a key has the id of its command. */
  const openedUnder = (key: string, drawn: Position) => {
    const position = { ...drawn, id: positionId(commandId(drawn.userId, 'open', key)) }
    return {
      event: { kind: 'position_opened', position } as const,
      command: keyedAs(drawn.userId, key, { position, price: p(201), exitPrice: p(200.5) }),
    }
  }
  partsContract(stage)
  protectionContract(stage)

  describe('load', () => {
    it('an unreported match is null', async () => {
      expect(await (await open()).store.load(fixtureId(++fixtures))).toBeNull()
    })

    it('loads what was committed: match, instruments, open positions', async () => {
      const { store, commit, position, match, newUser, listed } = await stage()
      const user = await newUser(money(u(10_000)))
      const [kept, gone] = [position(user, { stopLoss: p(190) }), position(user, { direction: 'short' })]
      await commit([opened(kept), opened(gone)])
      await commit([closed(gone, 190)])
      const loaded = await store.load(match.matchId)
      expect(loaded).toMatchObject({ info: match, pricing: EMPTY_PRICING, instruments: [listed] })
      expect(loaded?.openPositions).toEqual([kept])
    })

    it('[T33] where a match has ended comes back as it was, and is gone when play goes on', async () => {
      const { store, commit, match, listed } = await stage()
      const stored = async () => (await store.load(match.matchId))?.instruments[0]?.endedImbalance
      for (const endedImbalance of [lots(u(-7)), lots(0), null]) {
        await commit([], { instruments: [{ instrument: { ...listed, endedImbalance }, price: p(200) }] })
        expect(await stored()).toBe(endedImbalance)
      }
    })

    it('the last change of levels in a batch counts', async () => {
      const { store, commit, position, match, newUser } = await stage()
      const one = position(await newUser(money(u(10_000))))
      await commit([opened(one)])
      await commit([
        { kind: 'levels_changed', position: { ...one, stopLoss: p(150) } },
        { kind: 'levels_changed', position: { ...one, takeProfit: p(250) } },
      ])
      expect((await store.load(match.matchId))?.openPositions).toEqual([{ ...one, takeProfit: p(250) }])
    })

    it('the history of an instrument is its last price; an unknown instrument has no history', async () => {
      const { store, listed, commit, newId, matchId } = await stage()
      const moved = { ...listed, base: p(210) }
      await commit([], { instruments: [{ instrument: moved, price: p(210) }], ticks: [tick(moved)] })
      const histories = await store.histories([listed.id, newId() as Instrument['id']])
      expect([...histories]).toEqual([[listed.id, { last: p(210), anchor: null, past: null, heldBy: matchId }]])
    })
  })

  describe('what matches have shown of a player', () => {
    const settledAt = (listed: Instrument, base: number) => ({
      instrument: { ...listed, base: p(base), settlement: p(base) },
      price: p(base),
    })

    it('is the number of live matches and the mean base at which they settled', async () => {
      const { store, listed, commit, match } = await stage()
      const settle = (base: number, over: Partial<typeof match> = {}) =>
        commit(
          [
            { kind: 'match_updated', info: { ...match, settling: 'full_time', ...over }, pricing: EMPTY_PRICING },
            { kind: 'instrument_settled', instrumentId: listed.id, price: p(base) },
          ],
          { instruments: [settledAt(listed, base)] },
        )
      const past = async () => (await store.histories([listed.id])).get(listed.id)?.past
      const again = { instruments: [{ instrument: listed, price: p(200) }] }
      await settle(210)
      expect(await past()).toEqual({ matches: 1, mean: p(210) })
      // Written again while the positions are closed, it is no other match.
      await commit([], { instruments: [settledAt(listed, 210)] })
      expect(await past()).toEqual({ matches: 1, mean: p(210) })
      await commit([], again)
      await settle(180)
      expect(await past()).toEqual({ matches: 2, mean: p(195) })
      // Who never played has shown nothing, and neither has a match that was called off, or a replay.
      await commit([], again)
      await settle(200)
      await commit([], again)
      await settle(150, { settling: 'void' })
      await commit([], again)
      await settle(150, { replay: true })
      expect(await past()).toEqual({ matches: 2, mean: p(195) })
    })
  })

  describe('money', () => {
    it('[D1] an opening debits the margin, a close pays margin and profit, and the books balance', async () => {
      const { commit, position, newUser, audit } = await stage()
      const user = await newUser(money(u(10_000)))
      const one = position(user)
      expect(balances(await commit([opened(one)]))).toEqual([[u(9_900), u(100)]])
      expect(balances(await commit([closed(one, 220)]))).toEqual([[u(10_100), 0]])
      expect(await audit()).toEqual({ imbalance: 0, mismatched: 0 })
    })

    it("[D2] unrealised profit covers all the user's open positions in all matches, at the last committed prices", async () => {
      const [here, there, further] = [await stage(), await stage(), await stage()]
      const user = await here.newUser(money(u(10_000)))
      await there.commit([opened(there.position(user))])
      await further.commit([opened(further.position(user, { direction: 'short', lots: lots(u(3)) }))])
      // The loss is its whole margin, and no more.
      await further.commit([opened({ ...further.position(user), openPrice: p(300), margin: money(u(150)) })])
      for (const { commit, listed } of [there, further]) {
        await commit([], { instruments: [{ instrument: { ...listed, base: p(210) }, price: p(210) }] })
      }
      const verdict = await here.commit([opened(here.position(user))], {
        watch: [{ userId: user, purse: 'main', openPositions: 1, unrealizedPnl: money(0) }],
      })
      expect(verdict.kind === 'committed' && verdict.wallets.get(user)?.unrealizedPnl).toBe(u(50 - 150 - 150))
    })

    it('[D2] a position in another match is worth what closing it alone would fill at, wherever its crowd stands', async () => {
      const here = await stage()
      for (const [imbalance, exit] of [
        [30, 200.25],
        [-20, 199.75],
        // A hundred lots reach the cap of one unit.
        [120, 200.930555],
      ] as const) {
        const there = await stage()
        const user = await here.newUser(money(u(100_000)))
        const size = lots(u(imbalance === 120 ? 45 : 10))
        await there.commit([opened(there.position(user, { lots: size }))])
        const crowded = { ...there.listed, impactCapPpm: 5_000, imbalance: lots(u(imbalance)) }
        await there.commit([], { instruments: [{ instrument: crowded, price: quoteOf(crowded).price }] })
        const verdict = await here.commit([], {
          watch: [{ userId: user, purse: 'main', openPositions: 0, unrealizedPnl: money(0) }],
        })
        const worth = verdict.kind === 'committed' ? verdict.wallets.get(user)?.unrealizedPnl : null
        expect(worth).toBe(realisedPnl(there.position(user, { lots: size }), p(exit)))
      }
    })

    it('[D2] the match values its own positions, and the store adds those in other matches', async () => {
      const { commit, position, newUser } = await stage()
      const elsewhere = await stage()
      const user = await newUser(money(u(10_000)))
      await commit([opened(position(user))])
      const equity = async (holding: Holding) => {
        const verdict = await commit([], { watch: [holding] })
        return verdict.kind === 'committed' ? verdict.wallets.get(user)?.unrealizedPnl : null
      }
      const whole = { userId: user, purse: 'main', openPositions: 1, unrealizedPnl: money(0) } as const
      expect(await equity(whole)).toBe(0)
      await elsewhere.commit([opened(elsewhere.position(user))])
      const moved = { ...elsewhere.listed, base: p(210) }
      await elsewhere.commit([], { instruments: [{ instrument: moved, price: p(210) }] })
      expect(await equity(whole)).toBe(u(50))
    })

    it('a position opened and closed in one batch leaves the wallet as it was', async () => {
      const { commit, position, newUser, audit } = await stage()
      const one = position(await newUser(money(u(100))))
      expect(balances(await commit([opened(one), closed(one, 200)]))).toEqual([[u(100), 0]])
      expect(await audit()).toEqual({ imbalance: 0, mismatched: 0 })
    })

    it('[D3] a user who cannot pay has the whole batch rejected, and nothing is written', async () => {
      const { store, commit, position, newUser, match, audit } = await stage()
      const [rich, poor] = [await newUser(money(u(10_000))), await newUser(money(u(99)))]
      const verdict = await commit([opened(position(rich)), opened(position(poor))])
      expect(verdict).toEqual({
        kind: 'rejected',
        failures: [{ kind: 'insufficient_margin', userId: poor, available: u(99) }],
        wallets: [
          { userId: rich, purse: 'main', available: u(10_000), openPositions: 0 },
          { userId: poor, purse: 'main', available: u(99), openPositions: 0 },
        ],
      })
      expect((await store.load(match.matchId))?.openPositions).toEqual([])
      expect(balances(await commit([], { watch: [withNothing(rich)] }))).toEqual([[u(10_000), 0]])
      expect(await audit()).toEqual({ imbalance: 0, mismatched: 0 })
    })

    it('[D3] a user without a wallet has the whole batch rejected', async () => {
      const { commit, position, newId } = await stage()
      const nobody = newId() as UserId
      const verdict = await commit([opened(position(nobody))])
      expect(verdict).toEqual({
        kind: 'rejected',
        failures: [{ kind: 'insufficient_margin', userId: nobody, available: 0 }],
        wallets: [{ userId: nobody, purse: 'main', available: 0, openPositions: 0 }],
      })
    })

    it('[D3] a user at the limit of open positions has the whole batch rejected', async () => {
      const { commit, position, newUser } = await stage()
      const user = await newUser(money(u(10_000)))
      await commit([opened(position(user))])
      const verdict = await commit([opened(position(user))], { openPositionsMax: 1 })
      expect(verdict).toEqual({
        kind: 'rejected',
        failures: [{ kind: 'position_limit', userId: user }],
        wallets: [{ userId: user, purse: 'main', available: u(9_900), openPositions: 1 }],
      })
    })

    it('closing a position that is not open is a fault, and nothing is written', async () => {
      const { commit, position, newUser, audit } = await stage()
      const user = await newUser(money(u(10_000)))
      const one = position(user)
      await commit([opened(one)])
      await commit([closed(one, 200)])
      await expect(commit([closed(one, 300)])).rejects.toThrow()
      expect(balances(await commit([], { watch: [withNothing(user)] }))).toEqual([[u(10_000), 0]])
      expect(await audit()).toEqual({ imbalance: 0, mismatched: 0 })
    })
  })

  it('a warning stays with its position', async () => {
    const { store, commit, position, match, newUser } = await stage()
    const one = position(await newUser(money(u(10_000))))
    await commit([opened(one)])
    await commit([{ kind: 'margin_warned', position: { ...one, warned: 50 } }])
    expect((await store.load(match.matchId))?.openPositions).toEqual([{ ...one, warned: 50 }])
  })

  describe('purses', () => {
    const practising = (user: UserId, openPositions = 0): Holding => ({
      ...withNothing(user),
      purse: 'practice',
      openPositions,
    })

    it('[D10] a position is paid from the wallet of its purse, and pays back into it', async () => {
      const { commit, position, newUser, audit } = await stage()
      const user = await newUser(money(u(1_000)))
      const one = position(user, { purse: 'practice' })
      expect(balances(await commit([opened(one)], { watch: [practising(user, 1)] }))).toEqual([[u(900), u(100)]])
      expect(balances(await commit([], { watch: [withNothing(user)] }))).toEqual([[u(1_000), 0]])
      expect(balances(await commit([closed(one, 220)], { watch: [practising(user)] }))).toEqual([[u(1_100), 0]])
      expect(balances(await commit([], { watch: [withNothing(user)] }))).toEqual([[u(1_000), 0]])
      expect(await audit()).toEqual({ imbalance: 0, mismatched: 0 })
    })

    it('[D10] a full main wallet pays for nothing of another purse, and an empty one stops nothing there', async () => {
      const { commit, position, newUser, audit } = await stage()
      const user = await newUser(money(u(100)))
      expect((await commit([opened(position(user))])).kind).toBe('committed')
      expect((await commit([opened(position(user, { purse: 'practice' }))])).kind).toBe('committed')
      expect(
        await commit([opened(position(user, { purse: 'practice' }))], { watch: [practising(user, 2)] }),
      ).toMatchObject({
        kind: 'rejected',
        failures: [{ kind: 'insufficient_margin', userId: user, available: 0 }],
      })
      expect(await audit()).toEqual({ imbalance: 0, mismatched: 0 })
    })

    it('[D10] the limit of open positions counts those of one purse', async () => {
      const { commit, position, newUser } = await stage()
      const user = await newUser(money(u(10_000)))
      const practice = () => opened(position(user, { purse: 'practice' }))
      const limit = { openPositionsMax: 1, watch: [] }
      expect((await commit([opened(position(user))], limit)).kind).toBe('committed')
      expect((await commit([practice()], limit)).kind).toBe('committed')
      expect(await commit([practice()], limit)).toMatchObject({
        kind: 'rejected',
        failures: [{ kind: 'position_limit', userId: user }],
      })
    })

    it('[D2] equity counts the positions of its own purse in other matches', async () => {
      const [here, there] = [await stage(), await stage()]
      const user = await here.newUser(money(u(10_000)))
      await there.commit([opened(there.position(user)), opened(there.position(user, { purse: 'practice' }))], {
        watch: [],
      })
      await there.commit([opened(there.position(user, { purse: 'practice' }))], { watch: [] })
      await there.commit([], { instruments: [{ instrument: { ...there.listed, base: p(210) }, price: p(210) }] })
      const worth = async (holding: Holding) => {
        const verdict = await here.commit([], { watch: [holding] })
        return verdict.kind === 'committed' ? verdict.wallets.get(user)?.unrealizedPnl : null
      }
      expect(await worth(withNothing(user))).toBe(u(50))
      expect(await worth(practising(user))).toBe(u(100))
    })

    it('[A5] a retry in the practice purse is answered with its own wallet', async () => {
      const { commit, position, newUser, store } = await stage()
      const user = await newUser(money(u(1_000)))
      const { event, command } = openedUnder('practice', position(user, { purse: 'practice' }))
      const keyed = { ...command, purse: 'practice' } as const
      await commit([event], { keyed: [keyed], watch: [practising(user, 1)] })
      const wallet = { balance: u(900), marginUsed: u(100), unrealizedPnl: 0 }
      expect(await store.recall(user, keyed.idempotency)).toMatchObject({
        wallet,
        result: { position: event.position },
      })
      const close = closed(event.position, 220)
      const answer = { ...keyedAs(user, 'shut', { position: close.position, price: p(221), exitPrice: p(220) }) }
      await commit([close], { keyed: [{ ...answer, purse: 'practice' }], watch: [practising(user)] })
      const after = { balance: u(1_100), marginUsed: 0, unrealizedPnl: 0 }
      expect(await store.recall(user, answer.idempotency)).toMatchObject({ wallet: after })
    })

    it('[D4] matches of two purses that share users neither deadlock nor mix their money', async () => {
      const stages = await Promise.all([stage(), stage(), stage(), stage()])
      const [first] = stages
      if (first === undefined) throw new Error('no stage')
      const users = await Promise.all(Array.from({ length: 12 }, () => first.newUser(money(u(500)))))
      const rounds = stages.map(async ({ commit, position }, n) => {
        const purse = n % 2 === 0 ? 'main' : 'practice'
        for (let round = 0; round < 4; round++) {
          const order = users.toSorted((a, b) => (n < 2 ? a.localeCompare(b) : b.localeCompare(a)))
          await commit(
            order.map((user) => opened(position(user, { purse }))),
            { watch: [] },
          )
        }
      })
      await Promise.all(rounds)
      for (const purse of ['main', 'practice'] as const) {
        const seen = await first.commit([], { watch: users.map((user) => ({ ...withNothing(user), purse })) })
        expect(balances(seen), purse).toEqual(users.map(() => [0, u(500)]))
      }
      expect(await first.audit()).toEqual({ imbalance: 0, mismatched: 0 })
    })
  })

  describe('instruments', () => {
    it('[T28] an instrument of an unsettled match cannot be listed by another until that match is settled', async () => {
      const first = await stage()
      const second = await stage()
      const taken = { kind: 'instrument_listed', instrument: first.listed } as const
      const instruments = [{ instrument: first.listed, price: p(200) }]
      await expect(second.commit([taken], { instruments })).rejects.toThrow()
      expect((await first.store.load(first.matchId))?.instruments).toEqual([first.listed])
      const settled = { ...first.match, settledAt: first.at }
      await first.commit([{ kind: 'match_updated', info: settled, pricing: EMPTY_PRICING }])
      expect((await first.store.histories([first.listed.id])).get(first.listed.id)?.heldBy).toBeNull()
      expect((await second.commit([taken], { instruments })).kind).toBe('committed')
    })
  })

  describe('keys', () => {
    it('[A5] the result of a key is stored with its effect and wallet, and rejects a second use', async () => {
      const { store, commit, position, newUser } = await stage()
      const user = await newUser(money(u(10_000)))
      const { event, command } = openedUnder('k "1" \\ {,}', position(user, { stopLoss: p(150) }))
      await commit([event], { keyed: [command] })
      const stored = {
        fingerprint: command.idempotency.fingerprint,
        result: command.result,
        wallet: { balance: u(9_900), marginUsed: u(100), unrealizedPnl: 0 },
      }
      expect(await store.recall(user, command.idempotency)).toEqual(stored)
      const turnedDown = { kind: 'rejected', failures: [{ kind: 'key_used', userId: user, stored }] }
      expect(await commit([event], { keyed: [command] })).toMatchObject(turnedDown)
      // The key cannot get another result either: not a refusal, and not after its position was changed and closed.
      const refused = keyedAs(user, 'k "1" \\ {,}', { refusal: { code: 'not_found', what: 'instrument' } })
      expect(await commit([], { keyed: [refused], watch: [withNothing(user)] })).toMatchObject(turnedDown)
      const changed = { ...event.position, stopLoss: null, warned: 50 } as const
      await commit([{ kind: 'levels_changed', position: changed }])
      await commit([closed(changed, 210)])
      expect(await store.recall(user, command.idempotency)).toEqual(stored)
      expect(await commit([event], { keyed: [command] })).toMatchObject(turnedDown)
      expect(balances(await commit([], { watch: [withNothing(user)] }))).toEqual([[u(10_050), 0]])
    })

    it('[A5] the result of a close is stored under its key', async () => {
      const { store, commit, position, newUser } = await stage()
      const user = await newUser(money(u(10_000)))
      const [one, other] = [position(user), position(user)]
      await commit([opened(one), opened(other)])
      const event = closed(one, 220)
      const command = keyedAs(user, 'k', { position: event.position, price: p(221), exitPrice: p(220) })
      await commit([event], {
        keyed: [command],
        watch: [{ userId: user, purse: 'main', openPositions: 1, unrealizedPnl: money(0) }],
      })
      const stored = {
        fingerprint: command.idempotency.fingerprint,
        result: command.result,
        wallet: { balance: u(10_000), marginUsed: u(100), unrealizedPnl: 0 },
      }
      expect(await store.recall(user, command.idempotency)).toEqual(stored)
      const again = await commit([closed(other, 230)], { keyed: [command] })
      expect(again).toMatchObject({ kind: 'rejected', failures: [{ kind: 'key_used', userId: user, stored }] })
    })

    it('[A5] a position refused under a key is not opened under it', async () => {
      const { commit, position, newUser } = await stage()
      const user = await newUser(money(u(10_000)))
      const { event, command } = openedUnder('k', position(user))
      const refusal = { refusal: { code: 'not_found', what: 'instrument' } } as const
      await commit([], { keyed: [{ ...command, result: refusal }], watch: [withNothing(user)] })
      const verdict = await commit([event], { keyed: [command] })
      expect(verdict).toMatchObject({ failures: [{ kind: 'key_used', stored: { result: refusal } }] })
    })

    it('[A5] a key is scoped to its user and route', async () => {
      const { store, commit, newUser } = await stage()
      const [one, two] = [await newUser(money(0)), await newUser(money(0))]
      const refusal = { refusal: { code: 'not_found', what: 'position' } } as const
      await commit([], { keyed: [keyedAs(one, 'k', refusal)], watch: [withNothing(one)] })
      const asked = (user: UserId, route: KeyedRoute) => ({ id: commandId(user, route, 'k'), fingerprint: '' })
      expect(await store.recall(two, asked(two, 'open'))).toBeNull()
      expect(await store.recall(two, asked(one, 'open'))).toBeNull()
      expect(await store.recall(one, asked(one, 'close'))).toBeNull()
      expect((await store.recall(one, asked(one, 'open')))?.result).toEqual(refusal)
    })

    it('a key without a result is looked up and not stored', async () => {
      const { store, commit, position, newUser } = await stage()
      const user = await newUser(money(u(1_000)))
      const asked: KeyedCommand = keyedAs(user, 'k', null)
      expect((await commit([], { keyed: [asked], watch: [withNothing(user)] })).kind).toBe('committed')
      expect(await store.recall(user, asked.idempotency)).toBeNull()
      const one = position(user)
      await commit([opened(one)], { keyed: [keyedAs(user, 'k', { refusal: { code: 'key_in_flight' } })] })
      expect((await commit([], { keyed: [asked], watch: [withNothing(user)] })).kind).toBe('rejected')
    })

    it('a used key answers for the command even when the wallet could not pay it either', async () => {
      const { commit, position, newUser } = await stage()
      const user = await newUser(money(u(100)))
      const one = position(user)
      const command = keyedAs(user, 'k', { refusal: { code: 'busy', retryAfterSecs: 1 } })
      await commit([opened(one)], { keyed: [command] })
      const verdict = await commit([opened(position(user))], { keyed: [command] })
      expect(verdict.kind === 'rejected' && verdict.failures.map((f) => f.kind)).toEqual(['key_used'])
    })
  })

  describe('fencing', () => {
    it('[A4] every new owner has a greater epoch, and the former owner can no longer write', async () => {
      const { store, leases, commit, match, epoch, position, newUser } = await stage()
      const user = await newUser(money(u(10_000)))
      await leases.release(match.matchId, epoch)
      const next = (await leases.acquire(match.matchId)) ?? 0
      expect(next).toBeGreaterThan(epoch)
      expect(await commit([opened(position(user))])).toEqual({ kind: 'fenced' })
      expect(await leases.renew(match.matchId, epoch)).toBe(false)
      expect(await leases.renew(match.matchId, next)).toBe(true)
      expect((await store.load(match.matchId))?.openPositions).toEqual([])
      expect((await commit([opened(position(user))], { epoch: next })).kind).toBe('committed')
    })
  })
}

/** Watches a user without positions in the match. */
const withNothing = (user: UserId): Holding => watching(user)[0]

function positionsOf(kit: StoreUnderTest, matchId: FixtureId, listed: Instrument) {
  return (userId: UserId, over: Partial<Position> = {}): Position => {
    const of = { id: positionId(kit.newId()), userId, instrumentId: listed.id, fixtureId: matchId }
    return held({ ...of, openBase: p(199), closableAt: instant(KICK_OFF + 180_000), ...over })
  }
}

function tick(of: Instrument): PriceMoved {
  return {
    kind: 'price_moved',
    instrumentId: of.id,
    quote: quoteOf(of),
    previous: p(200),
    cause: 'match',
    providerEventId: 0,
    at: KICK_OFF,
  }
}
