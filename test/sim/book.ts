/**
 * The true state, derived only from the committed events and the oracle's arithmetic. The book reads every committed
 * batch event by event; any difference from what the oracle computes is a violation.
 */
import { present } from '../../actors/kernel/assert.ts'
import {
  leagueId,
  type FixtureId,
  type InstrumentId,
  type PlayerId,
  type PositionId,
  type UserId,
} from '../../actors/kernel/ids.ts'
import type { Purse, WalletKey } from '../../actors/kernel/purse.ts'
import type { KeyedResult, MatchEvent, MatchInfo, UserCommand, WalletAfter } from '../../actors/match/messages.ts'
import type { KeyedCommand } from '../../actors/match/store.ts'
import type { Position } from '../../actors/position/position.ts'
import { type Committed, lastPublishedOf } from './committed.ts'
import { checkEnding } from './endings.ts'
import { FillMoves } from './fill-moves.ts'
import * as oracle from './oracle.ts'
import { checkRefusal } from './refusals.ts'
import { hold, same } from './violation.ts'

/** What the price of a player is made of, as it stands or stood. */
interface Priced extends oracle.Market {
  readonly imbalance: number
  /** Where it was when the match ended: from then on the price stands still. */
  readonly ended: number | null
  readonly settlement: number | null
}

/** Those who leave together, out of an imbalance that still contained them. */
interface Step {
  readonly from: number
  readonly leaving: Position[]
}

export interface BookedInstrument extends Priced {
  readonly id: InstrumentId
  readonly playerId: PlayerId
  readonly matchId: FixtureId
  readonly k0: number
  capPpm: number
  base: number
  imbalance: number
  ended: number | null
  /** The current price: that of the last published move. */
  standing: number
  /** As of the last batch that touched it, which is what wallets are valued at. */
  stored: Priced
  /** Levels and washouts that fire just now. */
  step: Step | null
  /** Where the step began, while it takes several batches. */
  leavingFrom: number | null
  /**
   * What has been paid for exposure since base and curve last changed, less what was paid out, and on how many lots.
   */
  flow: { readonly from: number; paid: bigint; lots: number }
  settlement: number | null
}

export interface BookedResult {
  readonly fingerprint: string
  readonly result: KeyedResult
  readonly wallet: WalletAfter
}

export class Book {
  readonly matches = new Map<FixtureId, MatchInfo>()
  readonly instruments = new Map<InstrumentId, BookedInstrument>()
  readonly positions = new Map<PositionId, Position>()
  readonly #balances = new Map<string, number>()
  readonly results = new Map<string, BookedResult>()
  /** The number of positions each user has ever opened. */
  readonly opened = new Map<UserId, number>()
  /** The number of steps that took several batches. */
  longSteps = 0
  readonly moves = new FillMoves()
  /** Where the feed has moved bases in the batch at hand. */
  readonly #bases = new Map<InstrumentId, { readonly from: number; readonly to: number }>()
  readonly #commandOf: (key: string) => UserCommand | undefined

  constructor(commandOf: (key: string) => UserCommand | undefined) {
    this.#commandOf = commandOf
  }

  grant(wallet: WalletKey<UserId>, amount: number): void {
    this.#balances.set(nameOf(wallet), amount)
  }

  balanceOf(wallet: WalletKey<UserId>): number {
    return this.#balances.get(nameOf(wallet)) ?? 0
  }

  /** What a match is traded with. */
  purseOf(matchId: FixtureId): Purse {
    return this.matches.get(matchId)?.purse ?? 'main'
  }

  openPositions(of?: {
    readonly matchId?: FixtureId
    readonly userId?: UserId
    readonly purse?: Purse
    readonly id?: InstrumentId
  }): Position[] {
    return [...this.positions.values()].filter(
      (p) =>
        p.close === null &&
        (of?.matchId === undefined || p.fixtureId === of.matchId) &&
        (of?.userId === undefined || p.userId === of.userId) &&
        (of?.purse === undefined || p.purse === of.purse) &&
        (of?.id === undefined || p.instrumentId === of.id),
    )
  }

  /** Checks every event of a batch, then applies it. */
  take(committed: Committed): void {
    const { batch } = committed
    const ours = (): BookedInstrument[] => [...this.instruments.values()].filter((i) => i.matchId === batch.matchId)
    const before = this.matches.get(batch.matchId)
    for (const keyed of batch.keyed) {
      const command = this.#command(keyed)
      if (command === undefined || keyed.result === null || !('refusal' in keyed.result)) continue
      checkRefusal(keyed.result.refusal, command, this, committed)
    }
    for (const event of batch.events) this.#apply(event, committed)
    const fired = batch.events.filter((event) => event.kind === 'margin_warned' || isClosedByLevel(event)).length
    hold('trigger', fired <= committed.batchMax, () => `${fired} are closed or warned in one batch`)
    this.#endSteps(batch.matchId)
    this.moves.endBatch(this.#bases, this.positions.values(), committed)
    this.#bases.clear()
    for (const i of ours()) this.#checkInstrument(i, committed)
    this.#checkMatch(before, committed)
    this.#checkWallets(committed)
    for (const keyed of batch.keyed) this.#remember(keyed, committed)
  }

  instrument(id: InstrumentId): BookedInstrument {
    return present(this.instruments.get(id), `instrument ${id} in the book`)
  }

  /** The moment of a trade in an instrument. */
  momentOf(i: BookedInstrument, { batch, rules }: Committed): oracle.Moment {
    const info = present(this.matches.get(batch.matchId), 'match in the book')
    const isOnPitch = info.onPitch === null || info.onPitch.includes(i.playerId)
    return { info, isOnPitch, isLeaving: i.leavingFrom !== null, news: this.moves.newsOf(i.id), at: batch.at, rules }
  }

  #apply(event: MatchEvent, committed: Committed): void {
    const { matchId } = committed.batch
    if (event.kind !== 'match_updated' && event.kind !== 'position_closed') this.#checkRunning(event.kind, matchId)
    if (!isOfStep(event)) this.#endSteps(matchId)
    switch (event.kind) {
      case 'match_updated':
        checkEnding(this.matches.get(matchId), event.info, committed)
        this.matches.set(matchId, event.info)
        return
      case 'instrument_listed':
        return this.#list(event, matchId)
      case 'news_changed':
        return this.moves.follow(event, committed)
      case 'fill_moved':
        return this.#shift(event, committed)
      case 'close_forgotten':
        throw new Error('no operator voids a simulated position')
      case 'curve_changed':
        return this.#bend(event, committed)
      case 'instrument_settled':
        return this.#settle(event, committed)
      case 'leaving_changed':
        return this.#leave(event)
      case 'price_moved':
        return this.#move(event, committed)
      case 'position_opened':
        return this.#open(event.position, committed)
      case 'levels_changed':
        return this.#change(event.position)
      case 'margin_warned':
        return this.#warn(event.position)
      case 'position_split':
        return this.#split(event)
      case 'position_closed':
        this.#close(event.position, committed)
        this.moves.close(event, committed)
        return this.#checkParts(event.position)
    }
  }

  #checkRunning(what: string, matchId: FixtureId): void {
    const settledAt = this.matches.get(matchId)?.settledAt ?? null
    hold('settled', settledAt === null, () => `${what} in a settled match`)
  }

  #list({ instrument }: Extract<MatchEvent, { kind: 'instrument_listed' }>, matchId: FixtureId): void {
    const { id, playerId, slope: k0, impactCapPpm: capPpm, base, imbalance } = instrument
    const held = this.instruments.get(id)
    const elsewhere = held !== undefined && held.matchId !== matchId ? this.matches.get(held.matchId) : undefined
    hold('settled', elsewhere === undefined || elsewhere.settledAt !== null, () => `${id} plays in two matches`)
    same('imbalance', [imbalance, this.openPositions({ id }).length], [0, 0], `imbalance of the new listing ${id}`)
    const priced = { k0, capPpm, base, imbalance, ended: null, settlement: null }
    this.moves.forget(id)
    this.instruments.set(id, {
      ...priced,
      id,
      playerId,
      matchId,
      standing: base,
      stored: priced,
      step: null,
      leavingFrom: null,
      flow: { from: 0, paid: 0n, lots: 0 },
    })
  }

  #settle(event: Extract<MatchEvent, { kind: 'instrument_settled' }>, { batch }: Committed): void {
    const i = this.instrument(event.instrumentId)
    hold('settlement', this.matches.get(batch.matchId)?.settling !== null, () => `${i.id} settles while play goes on`)
    hold('settlement', i.settlement === null, () => `${i.id} settles twice`)
    hold('settlement', i.leavingFrom === null, () => `${i.id} settles while a step is under way`)
    same('settlement', event.price, priceOf(i), `settlement price of ${i.id}`)
    i.settlement = event.price
    i.standing = event.price
  }

  #move(event: Extract<MatchEvent, { kind: 'price_moved' }>, { batch }: Committed): void {
    const i = this.instrument(event.instrumentId)
    same('price', event.previous, i.standing, `previous price of ${i.id}`)
    const isOver = i.settlement !== null || i.ended !== null
    hold('settlement', !isOver || event.quote.price === i.standing, () => `${i.id} moves after the end`)
    hold('settlement', !isOver || event.quote.base === i.base, () => `the base of ${i.id} moves after the end`)
    if (event.quote.base !== i.base) {
      hold('trigger', i.leavingFrom === null, () => `the base of ${i.id} moves while a step is under way`)
      this.#checkFlow(i)
      if (event.cause === 'match' || event.cause === 'event')
        this.#bases.set(i.id, { from: i.base, to: event.quote.base })
      i.base = event.quote.base
      i.flow = { from: i.imbalance, paid: 0n, lots: 0 }
    }
    same('imbalance', event.quote.imbalance, i.ended ?? i.imbalance, `published imbalance of ${i.id}`)
    same('price', event.quote.price, priceOf(i), `published price of ${i.id}`)
    same('price', event.at, batch.at, `time of the move of ${i.id}`)
    i.standing = event.quote.price
  }

  /** Another cap, or the whistle. */
  #bend(event: Extract<MatchEvent, { kind: 'curve_changed' }>, { batch, rules }: Committed): void {
    const i = this.instrument(event.instrumentId)
    const { phase, settling } = present(this.matches.get(batch.matchId), 'match in the book')
    const isOver = phase === 'ended' || phase === 'final' || settling === 'void'
    if (event.impactCapPpm === i.capPpm) {
      same('settlement', event.endedImbalance, isOver ? i.imbalance : null, `whistle for ${i.id}`)
      hold('trigger', i.leavingFrom === null, () => `${i.id} ends while a step is under way`)
    } else {
      same('price', event.impactCapPpm, rules.impactCapPpm, `cap of ${i.id}`)
      same('settlement', [event.endedImbalance, i.ended], [null, null], `a cap of ${i.id} after the end`)
    }
    // What the last price has reached is out.
    if (event.endedImbalance !== null) this.#checkTriggers(i)
    this.#checkFlow(i)
    i.capPpm = event.impactCapPpm
    i.ended = event.endedImbalance
    i.flow = { from: i.imbalance, paid: 0n, lots: 0 }
  }

  /** A step that takes several batches begins where the imbalance is; it ends when nobody is in who was due there. */
  #leave({ instrumentId, leavingFrom }: Extract<MatchEvent, { kind: 'leaving_changed' }>): void {
    const i = this.instrument(instrumentId)
    if (leavingFrom !== null) {
      same('trigger', [leavingFrom, i.leavingFrom], [i.imbalance, null], `where those leave from on ${i.id}`)
      i.leavingFrom = leavingFrom
      i.step = { from: leavingFrom, leaving: [] }
      this.longSteps++
      return
    }
    const from = i.leavingFrom
    hold('trigger', from !== null, () => `a step of ${i.id} ends that has not begun`)
    i.leavingFrom = null
    if (from !== null) this.#checkTriggers({ ...i, imbalance: from })
    this.#endSteps(i.matchId)
  }

  #open(p: Position, committed: Committed): void {
    const { batch, rules } = committed
    const i = this.instrument(p.instrumentId)
    const moment = this.momentOf(i, committed)
    hold('window', oracle.oracleMayOpen(moment), () => `${p.id} opens while the market is ${moment.info.phase}`)
    hold('window', oracle.oracleLots(p.lots, rules), () => `${p.id} opens ${p.lots} lots`)
    hold('key', !this.positions.has(p.id), () => `${p.id} opens twice`)
    const imbalance = i.imbalance + oracle.oracleExposure(p)
    const isAside = oracle.oracleAside(p)
    const fill = isAside ? oracle.oracleLeaguePrice(i) : oracle.oracleMean(i, imbalance, i.imbalance)
    same('fill', [p.openPrice, p.openBase], [fill, i.base], `fill of ${p.id}`)
    same('margin', p.margin, oracle.oracleMargin(fill, p.lots), `margin of ${p.id}`)
    same('hold', [p.openedAt, p.closableAt], [batch.at, batch.at + rules.holdMs], `hold of ${p.id}`)
    same('fill', [p.fixtureId, p.close, p.warned], [batch.matchId, null, 0], `match, close and warning of ${p.id}`)
    same('purse', p.purse, isAside ? SIM_LEAGUE : this.purseOf(batch.matchId), `purse of ${p.id}`)
    const after = isAside ? fill : oracle.oraclePrice(i, imbalance)
    hold('trigger', oracle.oracleLevels(p, after), () => `levels of ${p.id} are not about ${after}`)
    this.#flows(i, p, 1, fill)
    i.imbalance = imbalance
    this.positions.set(p.id, p)
    this.opened.set(p.userId, (this.opened.get(p.userId) ?? 0) + 1)
    this.#pay(p, -p.margin)
  }

  #change(p: Position): void {
    const before = this.#bookedOpen(p)
    same('fill', { ...p, stopLoss: 0, takeProfit: 0 }, { ...before, stopLoss: 0, takeProfit: 0 }, `changed ${p.id}`)
    const i = this.instrument(p.instrumentId)
    hold('window', i.leavingFrom === null, () => `levels of ${p.id} change while a step is under way`)
    const seen = oracle.oracleAside(p) ? oracle.oracleLeaguePrice(i) : i.standing
    // A level that stays may be passed by the shown price: it fires by what leaving would pay.
    const moved = (level: 'stopLoss' | 'takeProfit') => (p[level] === before[level] ? null : p[level])
    const set = { direction: p.direction, stopLoss: moved('stopLoss'), takeProfit: moved('takeProfit') }
    hold('trigger', oracle.oracleLevels(set, seen), () => `levels of ${p.id} are not about ${seen}`)
    this.positions.set(p.id, p)
  }

  /** A part shares the margin with the rest, and everything else is as it was. */
  #split({ position: rest, part }: Extract<MatchEvent, { kind: 'position_split' }>): void {
    const before = this.#bookedOpen(rest)
    const margin = Number((BigInt(before.margin) * BigInt(part.lots)) / BigInt(before.lots))
    const { parted: _, ...shared } = before
    same('margin', part, { ...shared, id: part.id, partOf: rest.id, lots: part.lots, margin }, `part of ${rest.id}`)
    const { parted, ...left } = rest
    const lots = before.lots - part.lots
    same('margin', left, { ...shared, lots, margin: before.margin - margin }, `rest of ${rest.id}`)
    hold('fill', part.lots > 0 && lots > 0 && parted !== undefined, () => `${rest.id} has no rest, or no part`)
    hold('key', !this.positions.has(part.id), () => `${part.id} is split off twice`)
    this.positions.set(rest.id, rest)
    this.positions.set(part.id, part)
  }

  /** News has moved fills of a position, open or closed. */
  #shift(event: Extract<MatchEvent, { kind: 'fill_moved' }>, committed: Committed): void {
    const { position: p, before, amount, rest } = event
    same('moved', before, this.positions.get(p.id), `${p.id} before its move`)
    this.moves.move(event, committed)
    this.positions.set(p.id, p)
    this.#pay(p, amount)
    if (rest === undefined) return
    same('moved', { ...rest, parted: 0 }, { ...this.#bookedOpen(rest), parted: 0 }, `rest of the moved ${p.id}`)
    this.positions.set(rest.id, rest)
    this.#checkParts(p)
  }

  /** A position knows what its parts came to. */
  #checkParts({ id, partOf }: Position): void {
    const rest = partOf === undefined ? undefined : this.positions.get(partOf)
    if (rest === undefined) return
    const parts = [...this.positions.values()].filter((one) => one.partOf === rest.id)
    const sum = (of: (part: Position) => number): number => parts.reduce((all, part) => all + of(part), 0)
    const found = {
      lots: sum((part) => part.lots),
      margin: sum((part) => part.margin),
      pnl: sum((part) => part.close?.pnl ?? 0),
      baseMove: sum((part) => oracle.oraclePnl({ ...part, openPrice: part.openBase }, part.close?.base ?? 0)),
    }
    same('fill', rest.parted, found, `parts of ${rest.id}, with ${id}`)
  }

  #warn(p: Position): void {
    const before = this.#bookedOpen(p)
    same('trigger', { ...p, warned: 0 }, { ...before, warned: 0 }, `warned ${p.id}`)
    const i = this.instrument(p.instrumentId)
    hold(
      'trigger',
      p.warned > before.warned &&
        oracle.oracleLost(p, exitOf({ ...i, imbalance: i.step?.from ?? i.leavingFrom ?? i.imbalance }, p), p.warned),
      () => `${p.id} need not worry`,
    )
    this.positions.set(p.id, p)
  }

  #close(p: Position, committed: Committed): void {
    const { batch } = committed
    const before = this.#bookedOpen(p)
    const close = present(p.close, `close of ${p.id}`)
    same('fill', { ...p, close: null }, before, `closed ${p.id}`)
    same('fill', close.at, batch.at, `time of the close of ${p.id}`)
    const i = this.instrument(p.instrumentId)
    const info = present(this.matches.get(batch.matchId), 'match in the book')
    switch (close.by) {
      case 'user':
        hold(
          'hold',
          !oracle.oracleHeld(p.openedAt, p.closableAt, batch.at),
          () => `${p.id} closes ${p.closableAt - batch.at} ms too early`,
        )
        hold('window', oracle.oracleMayClose(this.momentOf(i, committed)), () => {
          return `${p.id} closes while the market is ${info.phase}`
        })
        same('fill', close.price, oracle.oracleWithin(p, exitOf(i, p)), `close price of ${p.id}`)
        this.#flows(i, p, -1, exitOf(i, p))
        break
      case 'full_time':
        same('settlement', [info.settling, close.price], ['full_time', paidAtFullTime(i, p)], `settlement of ${p.id}`)
        break
      case 'void':
        same('void', [info.settling, close.price, close.pnl], ['void', p.openPrice, 0], `void of ${p.id}`)
        break
      case 'stop_loss':
      case 'take_profit':
      case 'washout':
      case 'admin':
        i.step ??= { from: i.imbalance, leaving: [] }
        same(
          'trigger',
          close.by,
          oracle.oracleTrigger(before, exitOf({ ...i, imbalance: i.step.from }, p)),
          `trigger of ${p.id}`,
        )
        i.step.leaving.push(p)
        hold('settled', info.settling === null && i.ended === null, () => `${p.id} is triggered after the end`)
    }
    const isOff = close.by === 'void'
    if (!isOff) same('fill', close.pnl, oracle.oraclePnl(p, close.price), `profit of ${p.id}`)
    same('fill', close.base, isOff ? p.openBase : i.base, `base at the close of ${p.id}`)
    i.imbalance -= oracle.oracleExposure(p)
    this.positions.set(p.id, p)
    this.#pay(p, p.margin + close.pnl)
  }

  /** Those who have left together were all paid the mean of their common way. */
  #endSteps(matchId: FixtureId): void {
    for (const i of this.instruments.values()) {
      if (i.step === null || i.leavingFrom !== null || i.matchId !== matchId) continue
      const { from, leaving } = i.step
      const exposure = leaving.reduce((sum, p) => sum + oracle.oracleExposure(p), 0)
      const due = oracle.oracleMean(i, from, from - exposure)
      for (const p of leaving) {
        const paid = oracle.oracleAside(p) ? oracle.oracleLeaguePrice(i) : due
        same('fill', p.close?.price, oracle.oracleWithin(p, paid), `price of ${p.close?.by} of ${p.id}`)
        this.#flows(i, p, -1, paid)
      }
      i.step = null
    }
  }

  #flows(i: BookedInstrument, p: Position, times: 1 | -1, at: number): void {
    i.flow.paid += BigInt(times * oracle.oracleExposure(p)) * BigInt(at)
    if (!oracle.oracleAside(p)) i.flow.lots += p.lots
  }

  /**
   * The theorem: while the base stands still, what all together have paid depends on where the imbalance began and
   * where it is, whatever was opened, closed and fired on the way. To a micro of price, for rounding. Its one exception
   * is the end of a match, where everybody leaves at the price that stands.
   */
  #checkFlow(i: BookedInstrument): void {
    const { from, paid, lots } = i.flow
    if (i.ended !== null || i.settlement !== null || this.matches.get(i.matchId)?.settling === 'void') return
    const parts = 2n * BigInt(i.k0) * MILLION
    const foot = BigInt(Math.max(i.base, 10_000))
    const cost = oracle.oracleArea(i, from, i.imbalance) * (i.imbalance < from ? -1n : 1n)
    const off = (paid - foot * BigInt(i.imbalance - from)) * parts - cost
    const most = BigInt(lots) * parts
    hold('theorem', off <= most && off >= -most, () => `${i.id} has cost ${paid} for ${from} to ${i.imbalance}`)
  }

  /** The position as booked, which must be open. */
  #bookedOpen(p: Position): Position {
    const before = this.positions.get(p.id)
    hold('key', before !== undefined && before.close === null, () => `${p.id} is not open`)
    return before
  }

  #pay(p: Position, amount: number): void {
    this.#balances.set(nameOf(p), this.balanceOf(p) + amount)
  }

  #checkInstrument(i: BookedInstrument, { batch }: Committed): void {
    const open = this.openPositions({ id: i.id })
    same(
      'imbalance',
      i.imbalance,
      open.reduce((sum, p) => sum + oracle.oracleExposure(p), 0),
      `imbalance of ${i.id}`,
    )
    same('price', i.standing, priceOf(i), `the last published price of ${i.id}`)
    if (i.leavingFrom === null) this.#checkFlow(i)
    if (batch.events.some((event) => changes(event, i.id))) {
      const stored = batch.instruments.find(({ instrument }) => instrument.id === i.id)
      const { base, imbalance, settlement, impactCapPpm, endedImbalance, leavingFrom, news } = stored?.instrument ?? {}
      const found = [base, imbalance, settlement, impactCapPpm, endedImbalance, leavingFrom, news, stored?.price]
      same(
        'memory',
        found,
        [i.base, i.imbalance, i.settlement, i.capPpm, i.ended, i.leavingFrom, this.moves.newsOf(i.id), i.standing],
        `${i.id} as it is stored`,
      )
      const { k0, capPpm } = i
      i.stored = { k0, capPpm, base: i.base, imbalance: i.imbalance, ended: i.ended, settlement: i.settlement }
    }
    const isReached = batch.events.some(
      (event) =>
        (event.kind === 'price_moved' && event.instrumentId === i.id) ||
        (event.kind === 'levels_changed' && event.position.instrumentId === i.id),
    )
    if (isReached) this.#checkTriggers(i)
  }

  /** No position is open beyond a trigger, even if a rule has changed since its price last moved. */
  checkTriggers(matchId: FixtureId): void {
    for (const i of this.instruments.values()) if (i.matchId === matchId) this.#checkTriggers(i)
  }

  #checkTriggers(i: BookedInstrument): void {
    const isOver = i.ended !== null || i.settlement !== null || this.matches.get(i.matchId)?.settling !== null
    if (isOver || i.leavingFrom !== null) return
    for (const p of this.openPositions({ id: i.id })) {
      const price = exitOf(i, p)
      const by = oracle.oracleTrigger(p, price)
      hold('trigger', by === null, () => `${p.id} is open beyond its ${by} at ${price}`)
      const due = oracle.ORACLE_WARNINGS.find((percent) => percent > p.warned && oracle.oracleLost(p, price, percent))
      hold('trigger', due === undefined, () => `the owner of ${p.id} was not warned of ${due} % at ${price}`)
    }
  }

  #checkMatch(before: MatchInfo | undefined, { batch }: Committed): void {
    const info = this.matches.get(batch.matchId)
    if (info === undefined) return
    hold('memory', info.feedSeq >= (before?.feedSeq ?? 0), () => `the feed went back to ${info.feedSeq}`)
    const open = info.settledAt === null ? [] : this.openPositions({ matchId: batch.matchId })
    hold('settled', open.length === 0, () => `${open.length} positions are open in a settled match`)
  }

  #checkWallets({ batch, rules, wallets }: Committed): void {
    const openers = batch.events.flatMap((e) => (e.kind === 'position_opened' ? [e.position] : []))
    for (const { userId, purse } of openers) {
      const held = this.openPositions({ userId, purse }).length
      hold('window', held <= rules.openPositionsMax, () => `${userId} holds ${held} positions`)
      const [balance, locked] = [this.balanceOf({ userId, purse }), this.lockedOf({ userId, purse }, batch.at)]
      const isFree = batch.protected !== true || balance >= locked
      hold('locked', isFree, () => `${userId} has ${balance} left, of which ${locked} are locked`)
    }
    for (const [userId, wallet] of wallets) {
      const { purse } = present(
        batch.watch.find((holding) => holding.userId === userId),
        'watched wallet',
      )
      same('ledger', wallet, this.#walletAfter({ userId, purse }, batch), `wallet of ${userId} after a commit`)
    }
  }

  /** What closes have paid that news may still move. A match that is over moves nothing. */
  lockedOf({ userId, purse }: WalletKey<UserId>, at: number): number {
    let locked = 0
    for (const id of this.moves.movable(at)) {
      const p = present(this.positions.get(id), `close ${id}`)
      const isOver = this.matches.get(p.fixtureId)?.settling !== null
      if (p.userId === userId && p.purse === purse && !isOver) locked += p.margin + (p.close?.pnl ?? 0)
    }
    return locked
  }

  #walletAfter(wallet: WalletKey<UserId>, { protected: isProtected, at }: Committed['batch']): WalletAfter {
    const now = this.walletOf(wallet)
    return isProtected === true ? ({ ...now, locked: this.lockedOf(wallet, at) } as WalletAfter) : now
  }

  walletOf(wallet: WalletKey<UserId>): WalletAfter {
    const open = this.openPositions({ userId: wallet.userId, purse: wallet.purse })
    const sum = (of: (p: Position) => number): number => open.reduce((total, p) => total + of(p), 0)
    return {
      balance: this.balanceOf(wallet),
      marginUsed: sum((p) => p.margin),
      unrealizedPnl: sum((p) => oracle.oraclePnl(p, exitOf(this.instrument(p.instrumentId).stored, p))),
    } as WalletAfter
  }

  #command({ idempotency }: KeyedCommand): UserCommand | undefined {
    return this.#commandOf(idempotency.id)
  }

  #remember(keyed: KeyedCommand, committed: Committed): void {
    const { batch, rules } = committed
    const { userId, idempotency, result } = keyed
    const text = idempotency.id
    if (result === null) return
    hold('key', !this.results.has(text), () => `${text} has a second result`)
    if (result === null) return
    const wallet = this.#walletAfter(keyed, batch)
    this.results.set(text, { fingerprint: idempotency.fingerprint, result, wallet })
    if ('refusal' in result) return
    const { position } = result
    const command = this.#commandOf(text)
    const isClose = command?.kind === 'close_position' || command?.kind === 'close_part'
    const kind = isClose ? 'position_closed' : 'position_opened'
    const event = batch.events.find((e) => e.kind === kind && e.position.id === position.id)
    same('key', position, event !== undefined && 'position' in event ? event.position : null, `position of ${text}`)
    hold('key', position.userId === userId, () => `${text} traded for ${position.userId}`)
    same('purse', keyed.purse, position.purse, `wallet in the answer to ${text}`)
    if (command?.kind !== 'open_position') return
    same('purse', position.purse, command.league ?? this.purseOf(batch.matchId), `purse of ${text}`)
    const published = oracle.oracleAside(position)
      ? oracle.oracleLeaguePrice(this.instrument(position.instrumentId))
      : lastPublishedOf(position.instrumentId, committed)
    const close = published !== undefined && oracle.oracleGuard(command.clientPrice, published, rules.priceGuardPpm)
    hold('window', close, () => `${position.id} opens at ${command.clientPrice}, published was ${published}`)
  }
}

/** The league that simulated users trade in. */
export const SIM_LEAGUE = leagueId('00000000-0000-4000-8000-0000000000ff')

const MILLION = 1_000_000n

const nameOf = ({ userId, purse }: WalletKey<UserId>): string => `${purse} ${userId}`

/** The published price: base + k_mod × imbalance, both as they stood when the match ended. */
const priceOf = (i: Priced): number => i.settlement ?? oracle.oraclePrice(i, i.ended ?? i.imbalance)

/** What full time pays: the published price, or in a league the base. */
const paidAtFullTime = (i: Priced, p: Position): number =>
  oracle.oracleWithin(p, oracle.oracleAside(p) ? oracle.oracleLeaguePrice(i) : priceOf(i))

/** What closing this position alone would fill at. */
function exitOf(i: Priced, p: Position): number {
  if (oracle.oracleAside(p)) return oracle.oracleLeaguePrice(i)
  if (i.settlement !== null || i.ended !== null) return priceOf(i)
  return oracle.oracleMean(i, i.imbalance, i.imbalance - oracle.oracleExposure(p))
}

const isFired = ({ close }: Position): boolean =>
  close?.by === 'stop_loss' || close?.by === 'take_profit' || close?.by === 'washout'

/** Among those who leave together some are only warned. */
const isOfStep = (event: MatchEvent): boolean =>
  event.kind === 'margin_warned' || (event.kind === 'position_closed' && isFired(event.position))

const isClosedByLevel = (event: MatchEvent): boolean => event.kind === 'position_closed' && isFired(event.position)

/** True if an event changes an instrument. */
function changes(event: MatchEvent, id: InstrumentId): boolean {
  if (event.kind === 'position_opened' || event.kind === 'position_closed') return event.position.instrumentId === id
  return 'instrumentId' in event && event.instrumentId === id
}
