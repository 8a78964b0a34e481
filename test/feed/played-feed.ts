/**
 * A feed played to a match in this process: each poll is read as the server reads it and handed to the real actor. What
 * the match would store is read back after every poll.
 */
import { present } from '../../actors/kernel/assert.ts'
import { type InstrumentId, type PlayerId, playerId, type PositionId, userId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, type TradingRules } from '../../actors/kernel/limits.ts'
import { lots, MICROS_PER_UNIT, money, type Price } from '../../actors/kernel/micros.ts'
import type { TradeWindow } from '../../actors/kernel/outcome.ts'
import { type Instant, instant, SECOND_MS } from '../../actors/kernel/world.ts'
import type { SaidFixture } from '../../actors/market/fixture.ts'
import { type Instrument, quoteOf } from '../../actors/market/instrument.ts'
import { isInPlay, phaseOf } from '../../actors/market/phase.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { readPricing } from '../../actors/market/read-pricing.ts'
import type { FillMoved, MatchEvent, MatchInfo, OpenPosition } from '../../actors/match/messages.ts'
import { readMatchInfo } from '../../actors/match/read-match-info.ts'
import type { ClosedPosition, Position } from '../../actors/position/position.ts'
import { FRAME_MS } from '../../actors/replay/recording.ts'
import { MatchRun } from '../../src/match-run/match-run.ts'
import { RUN_STARTS_AT } from '../../src/match-run/recorded-match.ts'
import { instrumentIdFor } from '../../src/provider/instrument-ids.ts'
import { parseFixture } from '../../src/provider/snapshot.ts'

/** The match after a poll; there is none before the match begins. */
export interface Poll {
  readonly info: MatchInfo
  /** By the provider's number of the player. */
  readonly instruments: ReadonlyMap<number, Instrument>
  readonly prices: ReadonlyMap<number, Price>
  /** Of the match, and of each player. */
  readonly window: TradeWindow
  readonly windows: ReadonlyMap<number, TradeWindow>
}

export interface Played {
  readonly polls: readonly Poll[]
  /** Why polls could not be read at all. */
  readonly unreadable: readonly string[]
  /** Of all positions that were closed, by id. */
  readonly closed: ReadonlyMap<PositionId, ClosedPosition>
  readonly open: ReadonlyMap<PositionId, Position>
  /** Protection: fills that news has moved. */
  readonly moves: readonly FillMoved[]
}

type Order = Partial<Pick<OpenPosition, 'direction' | 'lots' | 'stopLoss' | 'takeProfit'>>

/** What users do between two polls. An order that is refused is no error: the caller sees no position. */
export interface Hands {
  open(player: number, order?: Order): Promise<Position | null>
  close(position: Position): Promise<void>
  /** The last published price of a player; null while the player is not listed. */
  price(player: number): Price | null
  /** Time passes. */
  wait(secs: number): void
}

export interface FeedOptions {
  readonly rules?: Partial<TradingRules>
  /** Called before each poll, the first excepted. */
  readonly between?: (poll: number, hands: Hands) => Promise<void> | void
  /** Milliseconds from poll to poll. */
  readonly pollMs?: number
  /** What a poll leaves is read back as stored: every one, or one of so many. */
  readonly readBackEvery?: number
}

const BALANCE = money(1_000_000 * MICROS_PER_UNIT)
const PLAYERS = 'feed'
const USER = userId('bbbbbbbb-0000-7000-8000-000000000001')

/** Instruments are derived once per player: that is a digest. */
const known = new Map<PlayerId, InstrumentId>()
function instrumentOf(player: PlayerId): InstrumentId {
  const id = known.get(player) ?? instrumentIdFor(PLAYERS, player)
  known.set(player, id)
  return id
}

/** Throws when a poll leaves something that the readers of stored state refuse, or the match stops. */
export async function playFeed(payloads: readonly unknown[], options: FeedOptions = {}): Promise<Played> {
  const { rules = {}, between, pollMs = FRAME_MS, readBackEvery = 1 } = options
  const inForce: TradingRules = { ...DEFAULT_RULES, holdMs: 0, openPositionsMax: 1_000, ...rules }
  const unreadable: string[] = []
  const polls: Poll[] = []
  const closed = new Map<PositionId, ClosedPosition>()
  const moves: FillMoved[] = []
  let run: MatchRun | null = null
  const take = (event: MatchEvent): void => {
    if (event.kind === 'position_closed') closed.set(event.position.id, event.position)
    if (event.kind === 'fill_moved') moves.push(event)
  }
  for (const [n, payload] of payloads.entries()) {
    const at = instant(RUN_STARTS_AT + n * pollMs)
    if (run !== null) await between?.(n, handsOf(run))
    run?.passTo(at)
    const snapshot = read(payload, at, unreadable)
    if (snapshot !== null && (run !== null || starts(snapshot, inForce))) {
      run ??= new MatchRun({
        first: snapshot,
        histories: new Map(),
        rules: () => inForce,
        model: () => DEFAULT_MODEL,
        balance: BALANCE,
        onCommitted: (events) => events.forEach(take),
      })
      await run.update(snapshot, n + 1)
      if (n % readBackEvery === 0) readBack(run)
    }
    if (run !== null) polls.push(pollOf(run))
  }
  const open = new Map([...present(run, 'a readable poll').view.openPositions()].map((one) => [one.id, one]))
  return { polls, unreadable, closed, open, moves }
}

function read(payload: unknown, receivedAt: Instant, unreadable: string[]): SaidFixture | null {
  const parsed = parseFixture(payload, { instrumentIdOf: instrumentOf, receivedAt })
  if (parsed.ok) return parsed.snapshot
  unreadable.push(parsed.reason)
  return null
}

/** As the server begins a match: in play, or before kick-off where that may be traded. */
function starts(snapshot: SaidFixture, { preMatch }: TradingRules): boolean {
  const phase = phaseOf(snapshot)
  return isInPlay(phase) || (phase === 'scheduled' && preMatch && snapshot.players.length > 0)
}

function handsOf(run: MatchRun): Hands {
  const priceOf = (player: number): Price | null => {
    const instrument = run.view.instrument(instrumentOf(playerId(player)))
    return instrument === undefined ? null : instrument.published
  }
  return {
    price: priceOf,
    open: async (player, order) => {
      const clientPrice = priceOf(player)
      if (clientPrice === null) return null
      const outcome = await run.submit({
        kind: 'open_position',
        userId: USER,
        instrumentId: instrumentOf(playerId(player)),
        direction: 'long',
        lots: lots(0.5 * MICROS_PER_UNIT),
        clientPrice,
        stopLoss: null,
        takeProfit: null,
        idempotency: null,
        ...order,
      })
      return outcome.ok ? outcome.value.position : null
    },
    close: async ({ id }) => {
      await run.submit({ kind: 'close_position', userId: USER, positionId: id, idempotency: null })
    },
    wait: (secs) => run.passTo(instant(run.now + secs * SECOND_MS)),
  }
}

/** What PostgreSQL keeps as JSON: no U+0000, and only whole characters. */
function readBack({ view }: MatchRun): void {
  const stored = JSON.stringify([view.info, view.pricing, [...view.instruments()]])
  const [readInfo, readPrices] = JSON.parse(stored) as readonly unknown[]
  readMatchInfo(readInfo, 'info')
  readPricing(readPrices, 'pricing')
  const refused = /\\u(0000|d[89a-f][0-9a-f]{2})/.exec(stored)
  if (refused !== null) throw new Error(`would store ${refused[0]}: ${stored.slice(refused.index - 40, refused.index)}`)
}

function pollOf(run: MatchRun): Poll {
  const listed = [...run.view.instruments()]
  return {
    info: run.view.info,
    instruments: new Map(listed.map((one) => [one.playerId, one])),
    prices: new Map(listed.map((one) => [one.playerId, quoteOf(one).price])),
    window: run.window(),
    windows: new Map(listed.map((one) => [one.playerId, run.window(one.id)])),
  }
}
