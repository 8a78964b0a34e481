/**
 * The true state, derived only from the committed events and the oracle's arithmetic. The book reads every committed
 * batch event by event; any difference from what the oracle computes is a violation.
 */
import { present } from '../../actors/kernel/assert.ts'
import type { FixtureId, InstrumentId, PositionId, UserId } from '../../actors/kernel/ids.ts'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import type { KeyedResult, MatchEvent, MatchInfo, UserCommand, WalletAfter } from '../../actors/match/messages.ts'
import type { KeyedCommand } from '../../actors/match/store.ts'
import type { Position } from '../../actors/position/position.ts'
import { type Committed, toldOf } from './committed.ts'
import { checkEnding } from './endings.ts'
import * as oracle from './oracle.ts'
import { checkRefusal } from './refusals.ts'
import { hold, same } from './violation.ts'

export interface BookedInstrument {
  readonly id: InstrumentId
  readonly matchId: FixtureId
  readonly k0: number
  base: number
  imbalance: number
  /** The current price: that of the last published move. */
  standing: number
  /** The price as of the last batch that touched it, which is what wallets are valued at. */
  stored: number
  suspendedUntil: number | null
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
  readonly balances = new Map<UserId, number>()
  readonly results = new Map<string, BookedResult>()
  /** The number of positions each user has ever opened. */
  readonly opened = new Map<UserId, number>()
  readonly #commandOf: (key: string) => UserCommand | undefined

  constructor(commandOf: (key: string) => UserCommand | undefined) {
    this.#commandOf = commandOf
  }

  grant(userId: UserId, amount: number): void {
    this.balances.set(userId, amount)
  }

  openPositions(of?: {
    readonly matchId?: FixtureId
    readonly userId?: UserId
    readonly id?: InstrumentId
  }): Position[] {
    return [...this.positions.values()].filter(
      (p) =>
        p.close === null &&
        (of?.matchId === undefined || p.fixtureId === of.matchId) &&
        (of?.userId === undefined || p.userId === of.userId) &&
        (of?.id === undefined || p.instrumentId === of.id),
    )
  }

  /** Checks every event of a batch, then applies it. */
  take(committed: Committed): void {
    const { batch, rules } = committed
    const ours = (): BookedInstrument[] => [...this.instruments.values()].filter((i) => i.matchId === batch.matchId)
    // A rule may have changed since the last batch, and prices with it.
    for (const i of ours()) if (i.settlement === null) i.standing = this.#priceOf(i, rules)
    const before = this.matches.get(batch.matchId)
    for (const keyed of batch.keyed) {
      const command = this.#command(keyed)
      if (command === undefined || keyed.result === null || !('refusal' in keyed.result)) continue
      checkRefusal(keyed.result.refusal, command, this, committed)
    }
    for (const event of batch.events) this.#apply(event, committed)
    for (const i of ours()) this.#checkInstrument(i, committed)
    this.#checkMatch(before, committed)
    this.#checkWallets(committed)
    for (const keyed of batch.keyed) this.#remember(keyed, committed)
  }

  instrument(id: InstrumentId): BookedInstrument {
    return present(this.instruments.get(id), `instrument ${id} in the book`)
  }

  #priceOf(i: BookedInstrument, rules: TradingRules): number {
    return i.settlement ?? oracle.oraclePrice(i.base, i.imbalance, i.k0, rules.impactCapPpm)
  }

  #apply(event: MatchEvent, committed: Committed): void {
    const { matchId } = committed.batch
    if (event.kind !== 'match_updated' && event.kind !== 'position_closed') this.#checkRunning(event.kind, matchId)
    switch (event.kind) {
      case 'match_updated':
        checkEnding(this.matches.get(matchId), event.info, committed)
        this.matches.set(matchId, event.info)
        return
      case 'instrument_listed':
        return this.#list(event, matchId)
      case 'instrument_suspended':
        this.instrument(event.instrumentId).suspendedUntil = event.until
        return
      case 'instrument_settled':
        return this.#settle(event, committed)
      case 'price_moved':
        return this.#move(event, committed)
      case 'position_opened':
        return this.#open(event.position, committed)
      case 'levels_changed':
        return this.#change(event.position)
      case 'margin_warned':
        return this.#warn(event.position)
      case 'position_closed':
        return this.#close(event.position, committed)
    }
  }

  #checkRunning(what: string, matchId: FixtureId): void {
    const settledAt = this.matches.get(matchId)?.settledAt ?? null
    hold('settled', settledAt === null, () => `${what} in a settled match`)
  }

  #list({ instrument }: Extract<MatchEvent, { kind: 'instrument_listed' }>, matchId: FixtureId): void {
    const { id, slope: k0, base, imbalance } = instrument
    const held = this.instruments.get(id)
    const elsewhere = held !== undefined && held.matchId !== matchId ? this.matches.get(held.matchId) : undefined
    hold('settled', elsewhere === undefined || elsewhere.settledAt !== null, () => `${id} plays in two matches`)
    same('imbalance', [imbalance, this.openPositions({ id }).length], [0, 0], `imbalance of the new listing ${id}`)
    const price = base
    this.instruments.set(id, {
      id,
      matchId,
      k0,
      base,
      imbalance,
      standing: price,
      stored: price,
      suspendedUntil: null,
      settlement: null,
    })
  }

  #settle(event: Extract<MatchEvent, { kind: 'instrument_settled' }>, { batch, rules }: Committed): void {
    const i = this.instrument(event.instrumentId)
    hold('settlement', this.matches.get(batch.matchId)?.settling !== null, () => `${i.id} settles while play goes on`)
    hold('settlement', i.settlement === null, () => `${i.id} settles twice`)
    same('settlement', event.price, this.#priceOf(i, rules), `settlement price of ${i.id}`)
    i.settlement = event.price
    i.standing = event.price
  }

  #move(event: Extract<MatchEvent, { kind: 'price_moved' }>, { batch, rules }: Committed): void {
    const i = this.instrument(event.instrumentId)
    same('price', event.previous, i.standing, `previous price of ${i.id}`)
    hold('settlement', i.settlement === null || event.quote.base === i.base, () => `${i.id} moves after settlement`)
    i.base = event.quote.base
    same('imbalance', event.quote.imbalance, i.imbalance, `imbalance told of ${i.id}`)
    same('price', event.quote.price, this.#priceOf(i, rules), `price told of ${i.id}`)
    same('price', event.at, batch.at, `time of the move of ${i.id}`)
    i.standing = event.quote.price
  }

  #open(p: Position, { batch, rules }: Committed): void {
    const i = this.instrument(p.instrumentId)
    const info = present(this.matches.get(batch.matchId), 'match in the book')
    const moment = { info, suspendedUntil: i.suspendedUntil, at: batch.at, rules }
    hold('window', oracle.oracleMayOpen(moment), () => `${p.id} opens while the market is ${info.phase}`)
    hold('window', oracle.oracleLots(p.lots, rules), () => `${p.id} opens ${p.lots} lots`)
    hold('key', !this.positions.has(p.id), () => `${p.id} opens twice`)
    const imbalance = i.imbalance + oracle.oracleExposure(p)
    const fill = oracle.oraclePrice(i.base, imbalance, i.k0, rules.impactCapPpm)
    same('fill', p.openPrice, fill, `fill of ${p.id}`)
    same('margin', p.margin, oracle.oracleMargin(fill, p.lots), `margin of ${p.id}`)
    same('hold', [p.openedAt, p.closableAt], [batch.at, batch.at + rules.holdMs], `hold of ${p.id}`)
    same('fill', [p.fixtureId, p.close, p.warned], [batch.matchId, null, 0], `match, close and warning of ${p.id}`)
    hold('trigger', oracle.oracleLevels(p, fill), () => `levels of ${p.id} are not about its fill ${fill}`)
    i.imbalance = imbalance
    this.positions.set(p.id, p)
    this.opened.set(p.userId, (this.opened.get(p.userId) ?? 0) + 1)
    this.#pay(p.userId, -p.margin)
  }

  #change(p: Position): void {
    const before = this.#bookedOpen(p)
    same('fill', { ...p, stopLoss: 0, takeProfit: 0 }, { ...before, stopLoss: 0, takeProfit: 0 }, `changed ${p.id}`)
    const { standing } = this.instrument(p.instrumentId)
    hold('trigger', oracle.oracleLevels(p, standing), () => `levels of ${p.id} are not about ${standing}`)
    this.positions.set(p.id, p)
  }

  #warn(p: Position): void {
    const before = this.#bookedOpen(p)
    same('trigger', { ...p, warned: 0 }, { ...before, warned: 0 }, `warned ${p.id}`)
    const { standing } = this.instrument(p.instrumentId)
    hold(
      'trigger',
      p.warned > before.warned && oracle.oracleLost(p, standing, p.warned),
      () => `${p.id} need not worry`,
    )
    this.positions.set(p.id, p)
  }

  #close(p: Position, { batch, rules }: Committed): void {
    const before = this.#bookedOpen(p)
    const close = present(p.close, `close of ${p.id}`)
    same('fill', { ...p, close: null }, before, `closed ${p.id}`)
    same('fill', close.at, batch.at, `time of the close of ${p.id}`)
    const i = this.instrument(p.instrumentId)
    const info = present(this.matches.get(batch.matchId), 'match in the book')
    switch (close.by) {
      case 'user':
        hold('hold', batch.at >= p.closableAt, () => `${p.id} closes ${p.closableAt - batch.at} ms too early`)
        hold('window', oracle.oracleMayClose({ info, suspendedUntil: i.suspendedUntil, at: batch.at, rules }), () => {
          return `${p.id} closes while the market is ${info.phase}`
        })
        same('fill', close.price, i.standing, `close price of ${p.id}`)
        break
      case 'full_time':
        same('settlement', [info.settling, close.price], ['full_time', i.settlement], `settlement of ${p.id}`)
        break
      case 'void':
        same('void', [info.settling, close.price, close.pnl], ['void', p.openPrice, 0], `void of ${p.id}`)
        break
      case 'stop_loss':
      case 'take_profit':
      case 'washout':
      case 'admin':
        same('trigger', close.by, oracle.oracleTrigger(before, i.standing), `trigger of ${p.id}`)
        same('fill', close.price, i.standing, `price of ${close.by} of ${p.id}`)
        hold('settled', info.settling === null, () => `${p.id} is triggered after the end`)
    }
    if (close.by !== 'void') same('fill', close.pnl, oracle.oraclePnl(p, close.price), `profit of ${p.id}`)
    i.imbalance -= oracle.oracleExposure(p)
    this.positions.set(p.id, p)
    this.#pay(p.userId, p.margin + close.pnl)
  }

  /** The position as booked, which must be open. */
  #bookedOpen(p: Position): Position {
    const before = this.positions.get(p.id)
    hold('key', before !== undefined && before.close === null, () => `${p.id} is not open`)
    return before
  }

  #pay(userId: UserId, amount: number): void {
    this.balances.set(userId, (this.balances.get(userId) ?? 0) + amount)
  }

  #checkInstrument(i: BookedInstrument, { batch, rules }: Committed): void {
    const open = this.openPositions({ id: i.id })
    same(
      'imbalance',
      i.imbalance,
      open.reduce((sum, p) => sum + oracle.oracleExposure(p), 0),
      `imbalance of ${i.id}`,
    )
    same('price', i.standing, this.#priceOf(i, rules), `the price of ${i.id} that was told last`)
    if (batch.events.some((event) => changes(event, i.id))) {
      const stored = batch.instruments.find(({ instrument }) => instrument.id === i.id)
      const { base, imbalance, suspendedUntil, settlement } = stored?.instrument ?? {}
      const found = [base, imbalance, suspendedUntil, settlement, stored?.price]
      same(
        'memory',
        found,
        [i.base, i.imbalance, i.suspendedUntil, i.settlement, i.standing],
        `${i.id} as it is stored`,
      )
      i.stored = i.standing
    }
    const moved = batch.events.some((event) => event.kind === 'price_moved' && event.instrumentId === i.id)
    if (moved) this.#checkTriggers(i, rules)
  }

  /** No position is open beyond a trigger, even if a rule has changed since its price last moved. */
  checkTriggers(matchId: FixtureId, rules: TradingRules): void {
    for (const i of this.instruments.values()) if (i.matchId === matchId) this.#checkTriggers(i, rules)
  }

  #checkTriggers(i: BookedInstrument, rules: TradingRules): void {
    if (i.settlement !== null || this.matches.get(i.matchId)?.settling !== null) return
    const price = this.#priceOf(i, rules)
    for (const p of this.openPositions({ id: i.id })) {
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
    const openers = new Set(batch.events.flatMap((e) => (e.kind === 'position_opened' ? [e.position.userId] : [])))
    for (const user of openers) {
      const held = this.openPositions({ userId: user }).length
      hold('window', held <= rules.openPositionsMax, () => `${user} holds ${held} positions`)
    }
    for (const [user, wallet] of wallets)
      same('ledger', wallet, this.walletOf(user), `wallet of ${user} after a commit`)
  }

  walletOf(userId: UserId): WalletAfter {
    const open = this.openPositions({ userId })
    const sum = (of: (p: Position) => number): number => open.reduce((total, p) => total + of(p), 0)
    return {
      balance: this.balances.get(userId) ?? 0,
      marginUsed: sum((p) => oracle.oracleMargin(p.openPrice, p.lots)),
      unrealizedPnl: sum((p) => oracle.oraclePnl(p, this.instrument(p.instrumentId).stored)),
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
    const wallet = this.walletOf(userId)
    this.results.set(text, { fingerprint: idempotency.fingerprint, result, wallet })
    if ('refusal' in result) return
    const { position } = result
    const command = this.#commandOf(text)
    const kind = command?.kind === 'close_position' ? 'position_closed' : 'position_opened'
    const event = batch.events.find((e) => e.kind === kind && e.position.id === position.id)
    same('key', position, event !== undefined && 'position' in event ? event.position : null, `position of ${text}`)
    hold('key', position.userId === userId, () => `${text} traded for ${position.userId}`)
    if (command?.kind !== 'open_position') return
    const told = toldOf(position.instrumentId, committed)
    const close = told !== undefined && oracle.oracleGuard(command.clientPrice, told, rules.priceGuardPpm)
    hold('window', close, () => `${position.id} opens at ${command.clientPrice}, told was ${told}`)
  }
}

/** True if an event changes an instrument. */
function changes(event: MatchEvent, id: InstrumentId): boolean {
  if (event.kind === 'position_opened' || event.kind === 'position_closed') return event.position.instrumentId === id
  return 'instrumentId' in event && event.instrumentId === id
}
