/** Checks the reason of a committed refusal against the book before the batch. */
import type { InstrumentId, PositionId } from '../../actors/kernel/ids.ts'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import type { Refusal } from '../../actors/kernel/outcome.ts'
import type { UserCommand } from '../../actors/match/messages.ts'
import type { Batch, CommitFailure } from '../../actors/match/store.ts'
import type { Book, BookedInstrument } from './book.ts'
import { type Committed, lastPublishedOf } from './committed.ts'
import * as oracle from './oracle.ts'
import { canonical, hold, same } from './violation.ts'

export function checkRefusal(refusal: Refusal, command: UserCommand, book: Book, committed: Committed): void {
  const { batch, rules } = committed
  const because = (condition: boolean): void =>
    hold('refusal', condition, () => `${command.kind} is refused without reason: ${JSON.stringify(refusal)}`)
  switch (refusal.code) {
    case 'not_found':
      return because(!isThere(command, book, committed))
    case 'market_closed':
    case 'market_suspended':
      return because(!mayTrade(command, book, committed) || marketMoves(committed))
    case 'lot_size_invalid':
      if (command.kind === 'close_part') return because(!isPart(command.lots, command.positionId, book, rules))
      return because(command.kind === 'open_position' && !oracle.oracleLots(command.lots, rules))
    case 'price_moved': {
      if (command.kind !== 'open_position') return because(false)
      if (command.league !== undefined) {
        const bases = pricesOf(command.instrumentId, book, committed).map(oracle.oracleLeaguePrice)
        hold('refusal', bases.includes(refusal.lastPublishedPrice), () => 'a league sees the base')
        return because(!oracle.oracleGuard(command.clientPrice, refusal.lastPublishedPrice, rules.priceGuardPpm))
      }
      const published = lastPublishedOf(command.instrumentId, committed)
      same('refusal', refusal.lastPublishedPrice, published, 'the last published price of a refusal')
      return because(
        published !== undefined && !oracle.oracleGuard(command.clientPrice, published, rules.priceGuardPpm),
      )
    }
    case 'levels_invalid': {
      if (command.kind !== 'open_position') return because(false)
      return because(!oracle.oracleLevels(command, refusal.currentPrice))
    }
    case 'cooldown_active': {
      if (command.kind !== 'close_position' && command.kind !== 'close_part') return because(false)
      const { openedAt, closableAt } = book.positions.get(command.positionId) ?? { openedAt: 0, closableAt: 0 }
      same('hold', refusal.retryAfterSecs, Math.ceil((closableAt - batch.at) / 1000), 'seconds left of a hold')
      return because(oracle.oracleHeld(openedAt, closableAt, batch.at))
    }
    case 'insufficient_margin':
      if (command.kind !== 'open_position') return because(false)
      because(refusal.required > refusal.available)
      // As if no other refused order had been there: at a price that the batch passes through.
      return because(
        pricesOf(command.instrumentId, book, committed).some(
          (market) =>
            costOf(market, command, command.lots) === refusal.required && isLargest(market, command, refusal, rules),
        ),
      )
    case 'position_limit':
      // Checked when the commit was rejected: since then the user may have closed a position in another match.
      return
    case 'account_frozen':
    case 'self_excluded':
    case 'limit_reached':
    case 'position_corrupt':
    case 'position_not_open':
    case 'key_in_flight':
    case 'key_reused':
    case 'busy':
    case 'unknown_outcome':
      return because(false)
  }
}

/** Checks the reason of a rejected commit against the current book. */
export function checkFailure(
  failure: CommitFailure,
  book: Book,
  { matchId, events, openPositionsMax, protected: isProtected, at }: Batch,
): void {
  const { userId } = failure
  const opened = events.find((event) => event.kind === 'position_opened' && event.position.userId === userId)
  const purse = opened?.kind === 'position_opened' ? opened.position.purse : book.purseOf(matchId)
  const wallet = { userId, purse }
  switch (failure.kind) {
    case 'insufficient_margin':
      return same(
        'refusal',
        failure.available,
        Math.max(0, book.balanceOf(wallet) - (isProtected === true ? book.lockedOf(wallet, at) : 0)),
        `what is available to ${userId}`,
      )
    case 'position_limit': {
      const held = book.openPositions(wallet).length
      return hold('refusal', held >= openPositionsMax, () => `${userId} holds only ${held} positions`)
    }
    case 'account_frozen':
    case 'own_limit':
      return hold('refusal', false, () => `${userId} is refused as ${failure.kind}, which no simulated user is`)
    case 'key_used': {
      const { stored } = failure
      const known = [...book.results].some(
        ([text, result]) => text.startsWith(userId) && canonical(result) === canonical(stored),
      )
      return hold('key', known, () => `a result of ${userId} that was never stored: ${JSON.stringify(stored)}`)
    }
  }
}

/** Whether so many lots can be closed of a position: whole steps that leave at least one, or all of it. */
function isPart(size: number, id: PositionId, book: Book, { lotStep }: TradingRules): boolean {
  const whole = book.positions.get(id)?.lots ?? 0
  return size === whole || (size > 0 && size % lotStep === 0 && size <= whole - lotStep)
}

function instrumentFor(command: UserCommand, book: Book): BookedInstrument | undefined {
  if (command.kind === 'open_position') return book.instruments.get(command.instrumentId)
  const position = book.positions.get(command.positionId)
  return position === undefined ? undefined : book.instruments.get(position.instrumentId)
}

function isThere(command: UserCommand, book: Book, { batch }: Committed): boolean {
  if (command.kind === 'open_position') return book.instruments.get(command.instrumentId)?.matchId === batch.matchId
  const position = book.positions.get(command.positionId)
  if (position === undefined || position.userId !== command.userId || position.fixtureId !== batch.matchId) return false
  // It may have been triggered by what came before the command in the same batch.
  const closed = batch.events.some((e) => e.kind === 'position_closed' && e.position.id === position.id)
  return position.close === null && !closed
}

function mayTrade(command: UserCommand, book: Book, committed: Committed): boolean {
  const instrument = instrumentFor(command, book)
  if (instrument === undefined || !book.matches.has(committed.batch.matchId)) return false
  // The player has gone on to the next match since: the last one takes no more trades.
  if (instrument.matchId !== committed.batch.matchId) return false
  const moment = book.momentOf(instrument, committed)
  return command.kind === 'open_position' ? oracle.oracleMayOpen(moment) : oracle.oracleMayClose(moment)
}

const MARKET_MOVES: ReadonlySet<string> = new Set(['match_updated', 'leaving_changed', 'news_changed'])

/** The batch itself changes what the market is like, so its order decides, which a naive reader does not follow. */
const marketMoves = ({ batch }: Committed): boolean => batch.events.some((e) => MARKET_MOVES.has(e.kind))

type Opening = Extract<UserCommand, { kind: 'open_position' }>
type Poor = Extract<Refusal, { code: 'insufficient_margin' }>
type Priced = oracle.Market & { readonly imbalance: number }

/** What the price of an instrument is made of before a batch, and after each of its events. */
function pricesOf(id: InstrumentId, book: Book, { batch }: Committed): Priced[] {
  const known = book.instruments.get(id)
  const prices: Priced[] = known === undefined ? [] : [known]
  for (const event of batch.events) {
    const last = prices.at(-1)
    if (event.kind === 'instrument_listed' && event.instrument.id === id) {
      const { slope: k0, impactCapPpm: capPpm, base, imbalance } = event.instrument
      prices.push({ k0, capPpm, base, imbalance })
    } else if (last !== undefined && event.kind === 'curve_changed' && event.instrumentId === id) {
      prices.push({ ...last, capPpm: event.impactCapPpm })
    } else if (last !== undefined && event.kind === 'price_moved' && event.instrumentId === id) {
      prices.push({ ...last, base: event.quote.base, imbalance: event.quote.imbalance })
    }
  }
  return prices
}

function costOf(market: Priced, { direction, league }: Opening, lots: number): number {
  if (league !== undefined) return oracle.oracleMargin(oracle.oracleLeaguePrice(market), lots)
  const imbalance = market.imbalance + (direction === 'long' ? lots : -lots)
  return oracle.oracleMargin(oracle.oracleMean(market, imbalance, market.imbalance), lots)
}

function isLargest(market: Priced, command: Opening, { maxLots: most, available }: Poor, rules: TradingRules): boolean {
  const next = most === 0 ? rules.lotMin : most + rules.lotStep
  const fits = most === 0 || costOf(market, command, most) <= available
  return fits && (next > rules.lotMax || costOf(market, command, next) > available)
}
