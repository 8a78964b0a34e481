/**
 * What news may do to fills, checked without the game's own memory of news: a piece of news moves every fill from one
 * instant on, by as much as the base moves, and the prices of a moved position follow the formula. Until when a close
 * may move is taken from the events; what depends on it is not.
 */
import { present } from '../../actors/kernel/assert.ts'
import type { InstrumentId, PositionId } from '../../actors/kernel/ids.ts'
import type { ProtectionRules } from '../../actors/kernel/limits.ts'
import { type Price, price } from '../../actors/kernel/micros.ts'
import type { FillMoved, MatchEvent } from '../../actors/match/messages.ts'
import type { Position } from '../../actors/position/position.ts'
import type { Committed } from './committed.ts'
import * as oracle from './oracle.ts'
import { hold, same } from './violation.ts'

type News = Extract<MatchEvent, { kind: 'news_changed' }>
type Closed = Extract<MatchEvent, { kind: 'position_closed' }>
type Fill = 'open' | 'close'

/** What a batch does to the fills of one player. */
interface Shift {
  by: number | null
  /** The instants of the fills that have moved. */
  readonly times: number[]
  /** Where the windows of the news begin that is known before the batch, or after it. */
  readonly windows: number[]
}

export class FillMoves {
  /** How many fills have moved in all. */
  count = 0
  readonly #news = new Map<InstrumentId, News['news']>()
  readonly #until = new Map<PositionId, number>()
  readonly #untilNext = new Map<PositionId, number>()
  readonly #shifts = new Map<InstrumentId, Shift>()
  readonly #moved = new Set<string>()

  newsOf(id: InstrumentId): News['news'] {
    return this.#news.get(id) ?? null
  }

  /** Another match has listed the player. */
  forget(id: InstrumentId): void {
    this.#news.delete(id)
  }

  /** The closes that news may move at this instant. */
  *movable(at: number): Generator<PositionId> {
    for (const [id, until] of this.#until) if (until > at) yield id
  }

  follow({ instrumentId, news }: News, { batch, rules }: Committed): void {
    const limits = protectionOf(rules)
    const held = this.newsOf(instrumentId)?.hold
    if (news?.hold && news.hold.changedSeq !== held?.changedSeq) {
      const opens = Math.max(limits.newsHoldMs, OPENS_HOLD_MS)
      const ends = [batch.at + limits.newsHoldMs, batch.at + opens]
      same('moved', [news.hold.closesFrom, news.hold.opensFrom], ends, `hold of ${instrumentId}`)
    }
    this.#shiftOf(instrumentId).windows.push(...(news?.windows ?? []).map(({ from }) => from))
    this.#news.set(instrumentId, news)
  }

  close({ position, movableUntil }: Closed, { batch, rules }: Committed): void {
    if (rules.protection === null) hold('moved', movableUntil === undefined, () => `${position.id} may move`)
    else if (isChosen(position)) {
      const least = batch.at + Math.max(rules.protection.lateMs, REACH_MS)
      hold('locked', movableUntil !== undefined && movableUntil >= least, () => `${position.id} stands too early`)
    }
    if (movableUntil !== undefined) this.#untilNext.set(position.id, movableUntil)
  }

  move(event: FillMoved, { batch, rules }: Committed): void {
    protectionOf(rules)
    const { position: p, before, amount, movableUntil } = event
    const known = before.moved ?? []
    const added = (p.moved ?? []).slice(known.length)
    const shift = this.#shiftOf(p.instrumentId)
    const by = added[0]?.by ?? 0
    if (added.length > 0) shift.by ??= by
    const of = (fill: Fill): number => (added.some((one) => one.fill === fill) ? by : 0)
    const raw = rawClose(before)
    const froms: Readonly<Record<Fill, number>> = { open: before.openPrice, close: raw ?? 0 }
    const told = added.map(({ fill, reason }) => ({ fill, at: batch.at, by: shift.by, reason, from: froms[fill] }))
    same('moved', p.moved ?? [], [...known, ...told], `moves of ${p.id}`)
    const shifted = (from: number): Price => price(at(from, of('open')))
    const opened = { openPrice: shifted(before.openPrice), openBase: shifted(before.openBase) }
    const expected = { ...before, ...opened, moved: p.moved }
    const { close } = before
    if (close === null || raw === null) {
      same('moved', [p, amount, movableUntil], [expected, 0, null], `moved ${p.id}`)
    } else {
      const fill = oracle.oracleWithin(expected, at(raw, of('close')))
      const pnl = oracle.oraclePnl(expected, fill)
      const booked = { ...close, price: fill, pnl, base: at(close.base, of('close')) }
      same('moved', [p, amount], [{ ...expected, close: booked }, pnl - close.pnl], `moved ${p.id}`)
      hold('moved', of('close') === 0 || isChosen(before), () => `${close.by} of ${p.id} moves`)
      this.#untilNext.set(p.id, present(movableUntil ?? undefined, `end of ${p.id}`))
    }
    for (const { fill } of added) {
      this.count++
      this.#moved.add(`${p.id} ${fill}`)
      shift.times.push(fill === 'open' ? p.openedAt : present(close ?? undefined, 'close').at)
    }
  }

  /** The base of a player has moved with the feed. `positions` are all of them, open or closed, after the batch. */
  endBatch(
    bases: ReadonlyMap<InstrumentId, { readonly from: number; readonly to: number }>,
    positions: Iterable<Position>,
    { batch, rules }: Committed,
  ): void {
    for (const [id, shift] of this.#shifts) {
      const { from, to } = bases.get(id) ?? { from: 0, to: 0 }
      hold('moved', shift.by === null || shift.by === to - from, () => `fills of ${id} move, its base by ${to - from}`)
    }
    if (rules.protection !== null) {
      const begins = new Map<InstrumentId, number>()
      for (const [id, base] of bases) begins.set(id, this.#beginOf(id, base, batch.at, rules.protection))
      for (const position of positions) {
        if (position.fixtureId !== batch.matchId) continue
        this.#checkWhole(position, begins.get(position.instrumentId), batch.at)
      }
    }
    for (const [id, until] of this.#untilNext) this.#until.set(id, until)
    this.#untilNext.clear()
    this.#shifts.clear()
    this.#moved.clear()
  }

  /** From which instant on the fills of a player must have moved. None of them may be older than the news itself. */
  #beginOf(id: InstrumentId, base: { from: number; to: number }, now: number, { lateMs, movePpm }: ProtectionRules) {
    const { times, windows } = this.#shifts.get(id) ?? { times: [], windows: [] }
    const isFar = Math.abs(base.to - base.from) * 1e6 >= movePpm * base.from
    const far = isFar ? [now - lateMs] : []
    const first = Math.min(...times)
    const allowed = Math.min(...windows, ...far)
    hold('moved', times.length === 0 || first >= allowed, () => `a fill of ${id} is older than its news: ${first}`)
    return Math.min(first, ...far)
  }

  /** Fills of this very instant may have been made by what came after the news in the batch. */
  #checkWhole(p: Position, begin: number | undefined, now: number): void {
    if (begin === undefined || begin === Number.POSITIVE_INFINITY) return
    const stays = p.close !== null && p.close.at < now && (this.#until.get(p.id) ?? 0) <= now
    if (stays) return
    const isIn = (at: number): boolean => at >= begin && at < now
    const check = (fill: Fill, isDue: boolean): void =>
      hold('moved', !isDue || this.#moved.has(`${p.id} ${fill}`), () => `the ${fill} of ${p.id} has not moved`)
    // A part that is split off in this batch has the entry of its position, which has moved.
    if (p.partOf === undefined || (p.close?.at ?? now) < now) check('open', isIn(p.openedAt))
    if (p.close !== null) check('close', isChosen(p) && isIn(p.close.at))
  }

  #shiftOf(id: InstrumentId): Shift {
    const known = this.#shifts.get(id)
    if (known !== undefined) return known
    const windows = (this.newsOf(id)?.windows ?? []).map(({ from }) => from)
    const shift: Shift = { by: null, times: [], windows }
    this.#shifts.set(id, shift)
    return shift
  }
}

/** How long opens wait at most, and how long after a fill news without a cancellation may move it. */
const [OPENS_HOLD_MS, REACH_MS] = [300_000, 180_000]

function protectionOf({ protection }: Committed['rules']): ProtectionRules {
  hold('moved', protection !== null, () => 'news without protection')
  return protection
}

const isChosen = ({ close }: Position): boolean =>
  close?.by === 'user' || close?.by === 'stop_loss' || close?.by === 'take_profit'

/** The close price as news has moved it, before the loss is limited to the margin. */
function rawClose({ close, moved = [] }: Position): number | null {
  if (close === null) return null
  const last = moved.findLast(({ fill }) => fill === 'close')
  return last === undefined ? close.price : at(last.from, last.by)
}

const at = (from: number, by: number): number => Math.max(oracle.LOWEST, from + by)
