/** The requests of clients and their answers; every answer is checked against the book. */
import type { Outcome, Refusal, RefusalCode } from '../../actors/kernel/outcome.ts'
import type { Trade, UserCommand } from '../../actors/match/messages.ts'
import type { Book } from './book.ts'
import type { Committed } from './committed.ts'
import * as oracle from './oracle.ts'
import { checkRefusal } from './refusals.ts'
import { hold, same } from './violation.ts'

/** Refusals that are not kept: the same request may be granted later. */
export const PATIENCE: ReadonlySet<RefusalCode> = new Set(['cooldown_active', 'market_suspended'])

/** One command of a client, over all its attempts. */
export interface Request {
  readonly command: UserCommand
  /** Its key with user and route; null without a key. */
  readonly key: string | null
  /** Attempts without an answer. */
  out: number
  /** An attempt failed or its answer was lost: it may or may not have happened. */
  unknown: boolean
  /** Answers that report a new trade. */
  acknowledged: number
  /** The client knows the outcome, and sends no more attempts. */
  closed: boolean
}

/** Where an answer came from. */
export interface Source {
  /** The commit that was answered in the same step, if any. */
  readonly committed: Committed | null
  /** The answering actor may be behind without knowing it. */
  readonly stalled: boolean
}

export function requestFor(command: UserCommand): Request {
  const idempotency = command.kind === 'change_levels' ? null : command.idempotency
  const key = idempotency?.id ?? null
  return { command, key, out: 0, unknown: false, acknowledged: 0, closed: false }
}

export class Requests {
  readonly all: Request[] = []
  readonly #byKey = new Map<string, Request>()

  add(request: Request): void {
    this.all.push(request)
    if (request.key !== null) this.#byKey.set(request.key, request)
  }

  commandOf(key: string): UserCommand | undefined {
    return this.#byKey.get(key)?.command
  }

  get open(): Request[] {
    return this.all.filter((request) => !request.closed)
  }

  /** Every opened position was requested, and every acknowledged position exists. */
  checkCounts(book: Book): void {
    for (const [user, opened] of book.opened) {
      const keyed = [...book.results].filter(
        ([text, { result }]) => text.startsWith(`${user} open `) && 'position' in result,
      )
      const unkeyed = this.all.filter(
        ({ command: c, key }) => c.userId === user && c.kind === 'open_position' && key === null,
      )
      const sure = unkeyed.filter((r) => r.acknowledged > 0).length
      const perhaps = unkeyed.filter((r) => r.acknowledged === 0 && (r.unknown || r.out > 0)).length
      const found = opened - keyed.length
      hold('key', found >= sure && found <= sure + perhaps, () => {
        return `${user} has opened ${found} positions without a key; ${sure} to ${sure + perhaps} were asked for`
      })
    }
  }
}

/** Checks an answer. `fingerprint` is of the body that this attempt was sent with. */
export function checkAnswer(
  request: Request,
  fingerprint: string,
  outcome: Outcome<Trade>,
  source: Source,
  book: Book,
) {
  if (outcome.ok) checkTrade(request, fingerprint, outcome.value, source, book)
  else checkRefused(request, fingerprint, outcome.refusal, source, book)
}

function checkTrade(request: Request, fingerprint: string, trade: Trade, source: Source, book: Book): void {
  const { command, key } = request
  const { position, wallet, repeated } = trade
  const booked = book.positions.get(position.id)
  hold('memory', booked !== undefined, () => `${position.id} was acknowledged but not committed`)
  hold('key', position.userId === command.userId, () => `${command.userId} was shown a trade of ${position.userId}`)
  checkWish(command, trade)
  if (key !== null) {
    const stored = book.results.get(key)
    hold('key', stored !== undefined, () => `${key} was acknowledged but its result is not stored`)
    const { wallet: _, repeated: __, ...result } = trade
    same('key', { result, wallet, fingerprint }, stored, `answer to ${key}`)
  }
  if (repeated) return hold('key', key !== null, () => 'a trade without a key was repeated')
  hold('key', request.acknowledged === 0, () => `${position.id} was made twice for one request`)
  same('memory', wallet, source.committed?.wallets.get(command.userId), `wallet shown to ${command.userId}`)
  request.acknowledged++
}

/** What was done is what was asked for. */
function checkWish(command: UserCommand, { position }: Trade): void {
  switch (command.kind) {
    case 'open_position': {
      const { instrumentId, direction, lots, stopLoss, takeProfit } = command
      const found = [position.instrumentId, position.direction, position.lots, position.stopLoss, position.takeProfit]
      return same('fill', found, [instrumentId, direction, lots, stopLoss, takeProfit], `what ${position.id} is`)
    }
    case 'close_position':
      return same('fill', [position.id, position.close?.by], [command.positionId, 'user'], 'what was closed')
    case 'close_part': {
      const found = [position.partOf ?? position.id, position.lots, position.close?.by]
      return same('fill', found, [command.positionId, command.lots, 'user'], 'what was closed')
    }
    case 'change_levels': {
      same('fill', position.id, command.positionId, 'whose levels were changed')
      const { stopLoss, takeProfit } = command
      if (stopLoss !== undefined) same('fill', position.stopLoss, stopLoss, `stop-loss of ${position.id}`)
      if (takeProfit !== undefined) same('fill', position.takeProfit, takeProfit, `take-profit of ${position.id}`)
    }
  }
}

function checkRefused(request: Request, fingerprint: string, refusal: Refusal, source: Source, book: Book): void {
  const { command, key } = request
  const stored = key === null ? undefined : book.results.get(key)
  const because = (condition: boolean): void =>
    hold(
      'refusal',
      condition,
      () => `${command.kind} ${key ?? ''} is refused without reason: ${JSON.stringify(refusal)}`,
    )
  const { code } = refusal
  // This answer says that nothing was started, which is true unless another attempt has started it.
  if (code === 'busy') return because(request.closed || request.unknown || request.out > 0 || stored === undefined)
  if (code === 'key_in_flight') return because(request.out > 0)
  if (code === 'key_reused') return because(stored !== undefined && stored.fingerprint !== fingerprint)
  if (key !== null && PATIENCE.has(refusal.code)) {
    hold('key', stored === undefined, () => `${key} has a result and is asked to wait`)
    hold('memory', source.committed !== null, () => `${key} is refused without a look at its results`)
    // A new owner may have committed since; then the book is ahead of this one.
    return source.stalled ? undefined : checkRefusal(refusal, command, book, source.committed)
  }
  if (key !== null) return same('key', stored?.result, { refusal }, `stored result of ${key}`)
  if (source.stalled || command.kind === 'open_position') return
  const position = book.positions.get(command.positionId)
  if (refusal.code === 'not_found') {
    return because(position?.userId !== command.userId || position.close !== null)
  }
  if (refusal.code === 'levels_invalid' && position !== undefined && command.kind === 'change_levels') {
    const { stopLoss = null, takeProfit = null } = command
    because(!oracle.oracleLevels({ ...position, stopLoss, takeProfit }, refusal.currentPrice))
  }
}
