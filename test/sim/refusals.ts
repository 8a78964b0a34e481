/** Checks the reason of a committed refusal against the book before the batch. */
import type { Refusal } from '../../actors/kernel/outcome.ts'
import type { UserCommand } from '../../actors/match/messages.ts'
import type { CommitFailure } from '../../actors/match/store.ts'
import type { Book, BookedInstrument } from './book.ts'
import { type Committed, toldOf } from './committed.ts'
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
      return because(command.kind === 'open_position' && !oracle.oracleLots(command.lots, rules))
    case 'price_moved': {
      if (command.kind !== 'open_position') return because(false)
      const told = toldOf(command.instrumentId, committed)
      same('refusal', refusal.lastPublishedPrice, told, 'the last published price of a refusal')
      return because(told !== undefined && !oracle.oracleGuard(command.clientPrice, told, rules.priceGuardPpm))
    }
    case 'levels_invalid': {
      if (command.kind !== 'open_position') return because(false)
      return because(!oracle.oracleLevels(command, refusal.currentPrice))
    }
    case 'level_too_close': {
      if (command.kind !== 'open_position') return because(false)
      const { stopLoss, takeProfit } = command
      const near = [stopLoss, takeProfit].some((level) =>
        oracle.oracleNear(level, refusal.currentPrice, rules.levelDistancePpm),
      )
      return because(near && rules.holdMs > 0)
    }
    case 'cooldown_active': {
      if (command.kind !== 'close_position') return because(false)
      const closableAt = book.positions.get(command.positionId)?.closableAt ?? 0
      same('hold', refusal.retryAfterSecs, Math.ceil((closableAt - batch.at) / 1000), 'seconds left of a hold')
      return because(closableAt > batch.at)
    }
    case 'insufficient_margin': {
      if (command.kind !== 'open_position') return because(false)
      because(refusal.required > refusal.available)
      return checkLargest(refusal.maxLots, refusal.available, command, book, committed)
    }
    case 'position_limit':
      // Checked when the commit was rejected: since then the user may have closed a position in another match.
      return
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
export function checkFailure(failure: CommitFailure, book: Book, openPositionsMax: number): void {
  const { userId } = failure
  switch (failure.kind) {
    case 'insufficient_margin':
      return same('refusal', failure.available, book.balances.get(userId), `what is available to ${userId}`)
    case 'position_limit': {
      const held = book.openPositions({ userId }).length
      return hold('refusal', held >= openPositionsMax, () => `${userId} holds only ${held} positions`)
    }
    case 'key_used': {
      const { stored } = failure
      const known = [...book.results].some(
        ([text, result]) => text.startsWith(userId) && canonical(result) === canonical(stored),
      )
      return hold('key', known, () => `a result of ${userId} that nobody has stored: ${JSON.stringify(stored)}`)
    }
  }
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

/** The batch itself changes what the market is like, so its order decides, which a naive reader does not follow. */
const marketMoves = ({ batch }: Committed): boolean =>
  batch.events.some((e) => e.kind === 'match_updated' || e.kind === 'news_changed')

function checkLargest(
  most: number,
  available: number,
  command: Extract<UserCommand, { kind: 'open_position' }>,
  book: Book,
  { rules }: Committed,
): void {
  const i = book.instrument(command.instrumentId)
  const costs = (lots: number): number => {
    const imbalance = i.imbalance + (command.direction === 'long' ? lots : -lots)
    return oracle.oracleMargin(oracle.oracleMean(i, imbalance, i.imbalance), lots)
  }
  const next = most === 0 ? rules.lotMin : most + rules.lotStep
  hold('refusal', most === 0 || costs(most) <= available, () => `${most} lots are more than ${available} pays`)
  hold('refusal', next > rules.lotMax || costs(next) > available, () => `${available} pays more than ${most} lots`)
}
