/** Matches, players and orders to test with: small, named, and everything overridable. */
import {
  fixtureId,
  instrumentId,
  playerId,
  type PositionId,
  positionId,
  type UserId,
  userId,
} from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { lots, microsFromDecimal, money, price, type Price, slope } from '../../actors/kernel/micros.ts'
import { present } from '../../actors/kernel/assert.ts'
import { instant } from '../../actors/kernel/world.ts'
import type { FixtureEvent, FixturePlayer, FixtureSnapshot } from '../../actors/market/fixture.ts'
import type { Instrument } from '../../actors/market/instrument.ts'
import { EMPTY_PRICING } from '../../actors/market/pricing.ts'
import type { ClosePosition, MatchEvent, MatchInfo, OpenPosition, Trade } from '../../actors/match/messages.ts'
import { UNPLAYED } from '../../actors/match/state.ts'
import type { MatchRecord } from '../../actors/match/store.ts'
import { marginFor, type Position, realisedPnl } from '../../actors/position/position.ts'

/** A decimal as micros: `u(9950.5)`. */
export const u = (units: number): number => present(microsFromDecimal(units), `decimal ${units}`)
export const p = (units: number): Price => price(u(units))

export const MATCH = fixtureId(90_001)
export const KICK_OFF = instant(Date.UTC(2026, 7, 22, 15, 0, 0))

/** The nth instrument of the test match. */
export const P = (n: number) => instrumentId(`aaaaaaaa-0000-5000-8000-${n.toString().padStart(12, '0')}`)
/** The nth user. */
export const U = (n: number): UserId => userId(`bbbbbbbb-0000-7000-8000-${n.toString().padStart(12, '0')}`)

export function instrument(n: number, over: Partial<Instrument> = {}): Instrument {
  return {
    id: P(n),
    playerId: playerId(n),
    name: `Player ${n}`,
    role: 'MID',
    side: n % 2 === 0 ? 'away' : 'home',
    jersey: n,
    starter: true,
    start: p(200),
    slope: slope(u(0.01)),
    impactCapPpm: DEFAULT_RULES.impactCapPpm,
    base: p(200),
    imbalance: lots(0),
    published: p(200),
    news: null,
    endedImbalance: null,
    leavingFrom: null,
    settlement: null,
    ...over,
  }
}

export function info(over: Partial<MatchInfo> = {}): MatchInfo {
  return {
    matchId: MATCH,
    name: 'Harbour vs Mill',
    league: 'League 1',
    startsAt: KICK_OFF,
    state: 'INPLAY_1ST_HALF',
    stateId: 2,
    phase: 'live',
    minute: 1,
    home: { id: 1, name: 'Harbour', goals: 0 },
    away: { id: 2, name: 'Mill', goals: 0 },
    replay: false,
    purse: 'main',
    settledAt: null,
    ...UNPLAYED,
    feedSeq: 1,
    sourceAt: KICK_OFF,
    ...over,
  }
}

export function record(over: Partial<MatchRecord> = {}): MatchRecord {
  return {
    info: info(),
    pricing: EMPTY_PRICING,
    instruments: [instrument(1), instrument(2)],
    openPositions: [],
    ...over,
  }
}

export function openOrder(over: Partial<OpenPosition> = {}): OpenPosition {
  return {
    kind: 'open_position',
    userId: U(1),
    instrumentId: P(1),
    direction: 'long',
    lots: lots(u(0.5)),
    clientPrice: p(200),
    stopLoss: null,
    takeProfit: null,
    idempotency: null,
    ...over,
  }
}

export function closeOrder(id: PositionId, over: Partial<ClosePosition> = {}): ClosePosition {
  return { kind: 'close_position', userId: U(1), positionId: id, idempotency: null, ...over }
}

/** An open long of the first player at 200, of one lot and free to close; its margin follows from its lots. */
export function held(over: Partial<Position> = {}): Position {
  const size = over.lots ?? lots(u(1))
  return {
    id: positionId('dddddddd-0000-7000-8000-000000000001'),
    userId: U(1),
    purse: 'main',
    instrumentId: P(1),
    fixtureId: MATCH,
    direction: 'long',
    lots: size,
    openPrice: p(200),
    openBase: p(200),
    margin: marginFor(p(200), size),
    stopLoss: null,
    takeProfit: null,
    openedAt: KICK_OFF,
    closableAt: KICK_OFF,
    warned: 0,
    close: null,
    ...over,
  }
}

/** What opens a position, and what closes it by its user when it was opened. */
export const opened = (position: Position): MatchEvent => ({ kind: 'position_opened', position })

export const closed = (position: Position, at: number) => ({
  kind: 'position_closed' as const,
  position: {
    ...position,
    close: {
      price: p(at),
      base: p(at - 1),
      pnl: realisedPnl(position, p(at)),
      at: position.openedAt,
      by: 'user' as const,
      voidReason: null,
    },
  },
})

/** The answer to the order of `openOrder`. */
export function trade(over: Partial<Trade> = {}): Trade {
  const { userId: owner, instrumentId: id, direction, lots: size, stopLoss, takeProfit } = openOrder()
  return {
    position: held({
      userId: owner,
      instrumentId: id,
      direction,
      lots: size,
      stopLoss,
      takeProfit,
      openPrice: p(200.0025),
      margin: money(u(50.000625)),
      closableAt: instant(KICK_OFF + 180_000),
    }),
    price: p(200.005),
    exitPrice: p(200.0025),
    wallet: {
      balance: money(u(9_949.999375)),
      marginUsed: money(u(50.000625)),
      unrealizedPnl: money(0),
    },
    repeated: false,
    ...over,
  }
}

export function player(n: number, over: Partial<FixturePlayer> = {}): FixturePlayer {
  return {
    playerId: playerId(n),
    instrumentId: P(n),
    name: `Player ${n}`,
    side: n % 2 === 0 ? 'away' : 'home',
    role: 'MID',
    jersey: n,
    starter: true,
    details: {},
    ...over,
  }
}

/** A goal of the home team's first player in the first minute. */
export const GOAL: FixtureEvent = {
  id: 501,
  kind: 'goal',
  minute: 1,
  extraMinute: null,
  period: 1,
  side: 'home',
  playerId: playerId(1),
  playerName: 'Player 1',
  relatedPlayerId: null,
  relatedPlayerName: null,
  result: '1-0',
  addition: null,
  rescinded: false,
}

/** The clock of the first half. */
export const half = (elapsedSecs: number, ticking = true): FixtureSnapshot['periods'] => [
  { id: 1, kind: 'first_half', order: 1, countsFrom: 0, length: 45, elapsedSecs, ticking },
]

/** Ten seconds into the first half, without events or statistics. */
export function snapshot(over: Partial<FixtureSnapshot> = {}): FixtureSnapshot {
  return {
    fixtureId: MATCH,
    name: 'Harbour vs Mill',
    league: 'League 1',
    startsAt: KICK_OFF,
    state: 'INPLAY_1ST_HALF',
    stateId: 2,
    home: { id: 1, name: 'Harbour', goals: 0 },
    away: { id: 2, name: 'Mill', goals: 0 },
    periods: half(10),
    events: [],
    players: [player(1), player(2)],
    teamStats: null,
    expectedGoals: null,
    sourceAt: KICK_OFF,
    ...over,
  }
}
