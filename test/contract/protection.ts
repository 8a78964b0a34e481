/** The contract of every MatchStore about fills that news moves (actors/match/protection). */
import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { positionId, type UserId } from '../../actors/kernel/ids.ts'
import { lots, type Money, money } from '../../actors/kernel/micros.ts'
import { type Instant, instant, SECOND_MS } from '../../actors/kernel/world.ts'
import type { MatchEvent } from '../../actors/match/messages.ts'
import type { Batch, Leases, Verdict } from '../../actors/match/store.ts'
import { type Move, moved } from '../../actors/position/moved.ts'
import { lessMove, lessPart, type Position, split } from '../../actors/position/position.ts'
import { commandId } from '../../src/http/command-ids.ts'
import { closed as closedFor, KICK_OFF, opened, p, u } from '../support/fixtures.ts'
import { type Stage, watching } from './parts.ts'

const after = (secs: number): Instant => instant(KICK_OFF + secs * SECOND_MS)
/** From here on the closes of these tests stand. */
const STANDS = after(180)

const closed = (position: Position, at: number) => ({ ...closedFor(position, at), movableUntil: STANDS })

/** News moves the fills of a position by so many units. */
function shifted<P extends Position>(before: P, by: number, fills: Pick<Move, 'open' | 'close'>) {
  const position = moved(before, { at: KICK_OFF, by: u(by), reason: 'event', ...fills })
  const amount = money((position.close?.pnl ?? 0) - (before.close?.pnl ?? 0))
  const movableUntil = position.close === null ? null : STANDS
  return { event: { kind: 'fill_moved', position, before, amount, movableUntil } as const, position }
}

const OPEN = { open: true, close: false }
const CLOSE = { open: false, close: true }

function walletIn(verdict: Verdict, user: UserId) {
  if (verdict.kind !== 'committed') throw new Error(`not committed: ${JSON.stringify(verdict)}`)
  const { balance, locked = 0 } = present(verdict.wallets.get(user), 'watched wallet')
  return { balance, locked }
}

export function protectionContract(
  stage: () => Promise<Stage & { readonly epoch: number; readonly leases: Leases }>,
): void {
  describe('fills that news moves', () => {
    /** A match under protection, and a user of it. */
    async function play(balance: Money = money(u(10_000))) {
      const kit = await stage()
      const user = await kit.newUser(balance)
      const commit = (events: readonly MatchEvent[], over: Partial<Batch> = {}) =>
        kit.commit(events, { protected: true, watch: watching(user), ...over })
      const wallet = async (at: Instant = KICK_OFF) => walletIn(await commit([], { at }), user)
      const isBalanced = async () => expect(await kit.audit()).toEqual({ imbalance: 0, mismatched: 0 })
      const load = async () => present((await kit.store.load(kit.matchId)) ?? undefined, 'match')
      /** An open position of the user. */
      const opens = async (over: Partial<Position> = {}): Promise<Position> => {
        const one = kit.position(user, over)
        await commit([opened(one)])
        return one
      }
      /** One that was closed at this price. */
      const leaves = async (at: number) => {
        const left = closed(await opens(), at)
        await commit([left])
        return left
      }
      return { ...kit, user, commit, wallet, isBalanced, load, opens, leaves }
    }

    it('[N4] what a close has paid is in the balance, and opens nothing until it stands', async () => {
      const { user, commit, position, wallet, isBalanced, opens } = await play(money(u(150)))
      const one = await opens()
      expect(walletIn(await commit([closed(one, 220)]), user)).toEqual({ balance: u(250), locked: u(200) })
      const turnedDown = await commit([opened(position(user))], { at: instant(STANDS - 1) })
      expect(turnedDown).toEqual({
        kind: 'rejected',
        failures: [{ kind: 'insufficient_margin', userId: user, available: u(50) }],
        wallets: [{ userId: user, purse: 'main', available: u(50), openPositions: 0 }],
      })
      expect(await wallet(STANDS)).toEqual({ balance: u(250), locked: 0 })
      expect((await commit([opened(position(user))], { at: STANDS })).kind).toBe('committed')
      await isBalanced()
    })

    it('[N4] what the same batch closes opens nothing either', async () => {
      const { user, commit, position, opens } = await play(money(u(150)))
      const one = await opens()
      const verdict = await commit([closed(one, 220), opened(position(user))])
      expect(verdict).toMatchObject({ kind: 'rejected', failures: [{ kind: 'insufficient_margin', userId: user }] })
    })

    it('[N1] a moved opening costs nothing, and is loaded as it was moved', async () => {
      const { commit, wallet, load, isBalanced, opens } = await play()
      const one = await opens({ stopLoss: p(150) })
      const first = shifted(one, 7, OPEN)
      await commit([first.event])
      const second = shifted(first.position, -3, OPEN)
      await commit([second.event])
      expect((await load()).openPositions).toEqual([second.position])
      expect(second.position).toMatchObject({ openPrice: p(204), openBase: p(203), margin: u(100) })
      expect(await wallet()).toEqual({ balance: u(9_900), locked: 0 })
      await isBalanced()
    })

    it('[N2] a moved close is booked at once, and what is cancelled is booked back', async () => {
      const { user, commit, wallet, load, isBalanced, leaves } = await play()
      const left = await leaves(220)
      const news = shifted(left.position, -12, CLOSE)
      expect(walletIn(await commit([news.event]), user)).toEqual({ balance: u(10_040), locked: u(140) })
      expect((await load()).movableCloses).toEqual([{ position: news.position, until: STANDS }])
      const cancelled = shifted(news.position, 12, CLOSE)
      expect(walletIn(await commit([cancelled.event]), user)).toEqual({ balance: u(10_100), locked: u(200) })
      expect((await load()).movableCloses).toEqual([{ position: cancelled.position, until: STANDS }])
      expect(cancelled.position.close).toMatchObject({ price: p(220), pnl: u(100) })
      expect(await wallet(STANDS)).toEqual({ balance: u(10_100), locked: 0 })
      await isBalanced()
    })

    it('[N2] a move costs the margin at most, and one back pays no more than was lost', async () => {
      const { commit, wallet, isBalanced, leaves } = await play()
      const left = await leaves(195)
      const news = shifted(left.position, -50, CLOSE)
      await commit([news.event])
      expect(news.position.close).toMatchObject({ price: p(180), pnl: u(-100) })
      expect(await wallet()).toEqual({ balance: u(9_900), locked: 0 })
      await commit([shifted(news.position, 50, CLOSE).event])
      expect(await wallet()).toEqual({ balance: u(9_975), locked: u(75) })
      await isBalanced()
    })

    it('[N1] opened, closed and moved in one batch: both fills, one result', async () => {
      const { user, commit, position, wallet, load, isBalanced } = await play()
      const one = position(user)
      const left = closed(one, 210)
      const news = shifted(left.position, 5, { open: true, close: true })
      await commit([opened(one), left, news.event])
      expect((await load()).movableCloses).toEqual([{ position: news.position, until: STANDS }])
      expect(news.position).toMatchObject({ openPrice: p(205), close: { price: p(215), pnl: u(50) } })
      expect(await wallet()).toEqual({ balance: u(10_050), locked: u(150) })
      await isBalanced()
    })

    it('[N1] a position whose fill news has moved, and which closes in that batch, closes with it', async () => {
      const { commit, wallet, load, opens } = await play()
      const one = await opens({ takeProfit: p(210) })
      const news = shifted(one, 5, OPEN)
      const left = closed(news.position, 210)
      await commit([news.event, left])
      expect((await load()).movableCloses).toEqual([{ position: left.position, until: STANDS }])
      expect(await wallet()).toEqual({ balance: u(10_025), locked: u(125) })
    })

    it('[N1] a part that is closed after news in the same batch has the moved entry, as its rest has', async () => {
      const { commit, newId, load, opens } = await play()
      const one = await opens()
      const news = shifted(one, 5, OPEN)
      const { part, rest } = split(news.position, positionId(newId()), lots(u(0.4)))
      const left = closed(part, 215)
      const whole = lessPart(rest, left.position)
      await commit([news.event, { kind: 'position_split', position: whole, part }, left])
      const loaded = await load()
      expect(loaded.openPositions).toEqual([whole])
      expect(loaded.movableCloses).toEqual([{ position: left.position, until: STANDS }])
      expect(left.position.close.pnl).toBe(u(20))
    })

    it('[N2] a closed part moves, and its rest counts the move', async () => {
      const { commit, newId, load, isBalanced, opens } = await play()
      const one = await opens()
      const { part, rest } = split(one, positionId(newId()), lots(u(0.4)))
      const left = closed(part, 215)
      const whole = lessPart(rest, left.position)
      await commit([{ kind: 'position_split', position: whole, part }, left])
      const { event, position: now } = shifted(left.position, -5, CLOSE)
      const counted = lessMove(whole, left.position, now)
      await commit([{ ...event, rest: counted }])
      const loaded = await load()
      expect(loaded.openPositions).toEqual([counted])
      expect(loaded.movableCloses).toEqual([{ position: now, until: STANDS }])
      expect(counted.parted).toMatchObject({ pnl: u(20) })
      await isBalanced()
    })

    it('[N4] an opening beside a move is decided by what is free after it', async () => {
      for (const [by, isPaid] of [
        [-10, true],
        [10, false],
      ] as const) {
        const { user, commit, position, leaves } = await play(money(u(150)))
        const left = await leaves(220)
        // Free are 50, before and after the move: what it pays or takes is locked, too.
        const order = position(user, { lots: lots(u(isPaid ? 0.5 : 0.6)), margin: money(u(isPaid ? 50 : 55)) })
        const verdict = await commit([shifted(left.position, by, CLOSE).event, opened(order)])
        if (isPaid) expect(walletIn(verdict, user)).toEqual({ balance: u(150), locked: u(150) })
        else expect(verdict).toMatchObject({ failures: [{ kind: 'insufficient_margin', available: u(50) }] })
      }
    })

    it('[N4] what turns out to stand is free at once', async () => {
      const { commit, wallet, leaves } = await play()
      const left = await leaves(220)
      const { event } = shifted(left.position, 0, { open: false, close: false })
      await commit([{ ...event, movableUntil: KICK_OFF }])
      expect(await wallet()).toEqual({ balance: u(10_100), locked: 0 })
    })

    it('[A5] the answer to a keyed close is repeated as it was given, with what was locked then', async () => {
      const { user, commit, position, store } = await play()
      const one = position(user)
      const left = closed(one, 220)
      await commit([opened(one)])
      const idempotency = { id: commandId(user, 'close', 'k'), fingerprint: 'digest' }
      const result = { position: left.position, price: p(221), exitPrice: p(220) }
      await commit([left], { keyed: [{ userId: user, purse: 'main', idempotency, result }] })
      await commit([shifted(left.position, -12, CLOSE).event])
      const stored = await store.recall(user, idempotency)
      const { base: _, ...shown } = left.position.close
      expect(stored).toMatchObject({
        result: { position: { ...left.position, close: shown }, exitPrice: p(220) },
        wallet: { balance: u(10_100), locked: u(200) },
      })
      const again = await commit([], { keyed: [{ userId: user, purse: 'main', idempotency, result }] })
      expect(again).toMatchObject({ kind: 'rejected', failures: [{ kind: 'key_used', stored }] })
    })

    it('[A5] the answer to a keyed close keeps what news had moved before it, also of the rest', async () => {
      const { user, commit, store, newId, opens } = await play()
      const news = shifted(await opens(), 5, OPEN)
      const { part, rest } = split(news.position, positionId(newId()), lots(u(0.4)))
      const left = closed(part, 220)
      const { parted: _, ...whole } = lessPart(rest, left.position)
      const idempotency = { id: commandId(user, 'close', 'moved'), fingerprint: 'digest' }
      const given = { position: left.position, price: p(221), exitPrice: p(220) }
      const result = { ...given, rest: { position: whole, exitPrice: p(219) } }
      const events: MatchEvent[] = [
        news.event,
        { kind: 'position_split', position: lessPart(rest, left.position), part },
      ]
      await commit([...events, left], { keyed: [{ userId: user, purse: 'main', idempotency, result }] })
      await commit([shifted(left.position, -12, { open: true, close: true }).event, shifted(whole, -12, OPEN).event])
      const { base: _base, ...shown } = left.position.close
      const { openBase: _ofPart, ...position } = left.position
      const { openBase: _ofRest, ...open } = whole
      expect(await store.recall(user, idempotency)).toMatchObject({
        result: { ...given, position: { ...position, close: shown }, rest: { position: open, exitPrice: p(219) } },
      })
    })

    it('[A4] a former owner moves nothing, and the next one moves each fill once', async () => {
      const { user, commit, leases, matchId, epoch, load, isBalanced, leaves } = await play()
      const left = await leaves(220)
      const news = shifted(left.position, -12, CLOSE)
      await leases.release(matchId, epoch)
      const next = present((await leases.acquire(matchId)) ?? undefined, 'epoch')
      expect(await commit([news.event])).toEqual({ kind: 'fenced' })
      expect((await load()).movableCloses).toEqual([{ position: left.position, until: STANDS }])
      expect(walletIn(await commit([news.event], { epoch: next }), user).balance).toBe(u(10_040))
      expect(await commit([news.event])).toEqual({ kind: 'fenced' })
      expect(walletIn(await commit([], { epoch: next }), user).balance).toBe(u(10_040))
      await isBalanced()
    })
  })
}
