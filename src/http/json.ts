/** Turns domain objects into JSON: decimals for micros, ISO 8601 for instants, the names of the specification. */
import type { z } from '@hono/zod-openapi'
import { CONTRACT_SIZE, isReplayFixture, LEVERAGE, type TradingRules } from '../../actors/kernel/limits.ts'
import { decimal, MICROS_PER_UNIT, money } from '../../actors/kernel/micros.ts'
import type { InstrumentId } from '../../actors/kernel/ids.ts'
import type { Purse } from '../../actors/kernel/purse.ts'
import { type Instant, instant, SECOND_MS } from '../../actors/kernel/world.ts'
import type { FixturePlayer, FixtureTeam, Side } from '../../actors/market/fixture.ts'
import { quoteOf, slopeInForce } from '../../actors/market/instrument.ts'
import type { ReportedEvent } from '../../actors/market/match-report.ts'
import { namedStatistics } from '../../actors/market/statistic-names.ts'
import type { QuoteAnswer } from '../../actors/match/quotes.ts'
import type { MatchInfo, WalletAfter } from '../../actors/match/messages.ts'
import { movableMs } from '../../actors/match/protection/windows.ts'
import { tradeWindow } from '../../actors/match/suspension.ts'
import { levelOf } from '../../actors/community/career.ts'
import {
  type FillMove,
  isBeyondWashout,
  type Position,
  realisedPnl,
  washoutPrice,
} from '../../actors/position/position.ts'
import type { AccountChanges, AccountEvent } from '../../db/account-log.ts'
import type { Notification } from '../../db/announcements.ts'
import type { Listing } from '../../db/catalogue.ts'
import type { Mover, MoversBoard } from '../../db/movers.ts'
import type { HeldPosition } from '../../db/positions.ts'
import type { History } from '../../db/price-history.ts'
import type { RecentTrade } from '../../db/recent-trades.ts'
import type { User } from '../../db/users.ts'
import type { LedgerEntry } from '../../db/wallets.ts'
import type { RecentTradesBody } from './recent-trades-schema.ts'
import type {
  AccountChangesBody,
  AccountEventBody,
  InstrumentBody,
  levelWarnings,
  MatchBody,
  NotificationBody,
  MatchEventsBody,
  MoversBody,
  PERIODS,
  PositionBody,
  PriceHistoryBody,
  SquadBody,
  WalletBody,
  WindowBody,
} from './schemas.ts'
import type { UserBody } from './user-schema.ts'

export const timestamp = (at: Instant): string => new Date(at).toISOString()

const decimalOrNull = (micros: number | null): number | null => (micros === null ? null : decimal(micros))

/** A position as its owner sees it. A closed one shows its close price in place of the prices of now. */
export function positionJson(held: HeldPosition): z.output<typeof PositionBody> {
  const { position, currentPrice, exitPrice, movableUntil } = held
  const { close } = position
  return {
    id: position.id,
    instrumentId: position.instrumentId,
    partOf: position.partOf ?? null,
    fixtureId: position.fixtureId,
    replay: isReplayFixture(position.fixtureId),
    purse: position.purse,
    direction: position.direction,
    lotSize: decimal(position.lots),
    contractSize: CONTRACT_SIZE,
    leverage: LEVERAGE,
    openPrice: decimal(position.openPrice),
    currentPrice: decimal(close?.price ?? currentPrice),
    exitPrice: decimal(close?.price ?? exitPrice),
    margin: decimal(position.margin),
    unrealizedPnl: close === null ? decimal(realisedPnl(position, exitPrice)) : 0,
    stopLoss: decimalOrNull(position.stopLoss),
    takeProfit: decimalOrNull(position.takeProfit),
    washoutPrice: decimalOrNull(washoutPrice(position)),
    status: close === null ? 'open' : 'closed',
    openedAt: timestamp(position.openedAt),
    closableAt: timestamp(position.closableAt),
    closePrice: close === null ? null : decimal(close.price),
    realizedPnl: close === null ? null : decimal(close.pnl),
    closedAt: close === null ? null : timestamp(close.at),
    closedBy: close?.by ?? null,
    voidReason: close?.voidReason ?? null,
    voidNote: close?.voidNote ?? null,
    ...(position.moved === undefined ? {} : { moved: position.moved.map(moveJson) }),
    ...(movableUntil === undefined ? {} : { movableUntil: timestamp(movableUntil) }),
  }
}

const moveJson = ({ fill, at, by, reason }: FillMove) => ({
  fill,
  at: timestamp(at),
  by: by / MICROS_PER_UNIT,
  reason,
})

/** The levels of a position, or of one to be opened at this price, that can never fire. */
export function levelWarningsJson(
  position: Pick<Position, 'direction' | 'openPrice' | 'stopLoss'>,
): z.output<typeof levelWarnings> {
  const [stop, washout] = [position.stopLoss, washoutPrice(position)]
  if (stop === null || washout === null || !isBeyondWashout(position)) return []
  const [level, washedOut] = [decimal(stop), decimal(washout)]
  const message =
    `The stop-loss ${level} lies beyond the washout price ${washedOut}: ` +
    'the position washes out before it can fire.'
  return [{ code: 'STOP_LOSS_BEYOND_WASHOUT', message, level, washoutPrice: washedOut }]
}

export function accountChangesJson(changes: AccountChanges): z.output<typeof AccountChangesBody> {
  const marker = String(changes.marker)
  if (changes.kind === 'snapshot') {
    const positions = changes.positions.map(positionJson)
    return { marker, snapshot: true, events: [], positions, more: false }
  }
  return { marker, snapshot: false, events: changes.events.map(accountEventJson), positions: null, more: changes.more }
}

function accountEventJson(event: AccountEvent): z.output<typeof AccountEventBody> {
  return {
    marker: String(event.marker),
    type: event.kind,
    purse: event.position.purse,
    at: timestamp(event.at),
    marginLostPct: event.kind === 'margin_warning' ? event.position.warned : null,
    position: positionJson(event),
  }
}

export function walletJson(wallet: WalletAfter, purse: Purse): z.output<typeof WalletBody> {
  return {
    purse,
    balance: decimal(wallet.balance),
    marginUsed: decimal(wallet.marginUsed),
    unrealizedPnl: decimal(wallet.unrealizedPnl),
    equity: decimal(wallet.balance + wallet.unrealizedPnl),
    freeMargin: decimal(money(Math.max(0, wallet.balance - (wallet.locked ?? 0)))),
    currency: 'UNIT',
  }
}

export const PPM_PER_PERCENT = 10_000

export function instrumentJson(listing: Listing, now: Instant, rules: TradingRules): z.output<typeof InstrumentBody> {
  const { instrument, match } = listing
  const team = match[instrument.side]
  return {
    id: instrument.id,
    name: instrument.name,
    position: instrument.role,
    team: { id: team.id, name: team.name, side: instrument.side },
    fixtureId: match.matchId,
    replay: match.replay,
    purse: match.purse,
    currentPrice: decimal(listing.price),
    live_base_price: decimal(instrument.base),
    net_position_imbalance: decimal(quoteOf(instrument).imbalance),
    k_mod: slopeInForce(instrument),
    last_published_price: decimal(instrument.published),
    changePct: listing.changePpm / PPM_PER_PERCENT,
    tradingStatus: tradeWindow(match, instrument, now, rules).status,
    minLot: decimal(rules.lotMin),
    maxLot: decimal(rules.lotMax),
    lotStep: decimal(rules.lotStep),
    contractSize: CONTRACT_SIZE,
    leverage: LEVERAGE,
  }
}

export function windowJson(match: MatchInfo, now: Instant, rules: TradingRules): z.output<typeof WindowBody> {
  const window = tradeWindow(match, null, now, rules)
  return {
    fixtureId: match.matchId,
    status: window.status,
    open: window.status === 'OPEN',
    state: match.state,
    reason: window.reason,
    holdSecs: rules.holdMs / SECOND_MS,
    serverTime: timestamp(now),
  }
}

const CENTS = 10_000

/** `YYYY-MM-DD HH:MM:SS.ffff+00`, as specification 2.4 has it. */
const tickTimestamp = (at: Instant): string => timestamp(at).replace('T', ' ').replace('Z', '0+00')

export function priceHistoryJson(
  id: InstrumentId,
  period: (typeof PERIODS)[number],
  { ticks, volume, firstTickAt }: History,
): z.output<typeof PriceHistoryBody> {
  const prices = ticks.map((tick) => tick.price)
  const [first, last] = [prices.at(0), prices.at(-1)]
  const isEmpty = first === undefined || last === undefined
  return {
    instrumentId: id,
    period,
    ticks: ticks.map((tick) => ({ ...tick, at: timestamp(tick.at), price: decimal(tick.price) })),
    stats: {
      open: isEmpty ? null : decimal(first),
      high: isEmpty ? null : decimal(Math.max(...prices)),
      low: isEmpty ? null : decimal(Math.min(...prices)),
      volume: decimal(volume),
      changePct: isEmpty ? null : Math.round(((last - first) / first) * 100 * CENTS) / CENTS,
      firstTickAt: firstTickAt === null ? null : tickTimestamp(firstTickAt),
    },
  }
}

export function recentTradesJson(trades: readonly RecentTrade[]): z.output<typeof RecentTradesBody> {
  const toTheSecond = (at: Instant): Instant => instant(Math.round(at / SECOND_MS) * SECOND_MS)
  return {
    trades: trades.map((trade) => ({
      at: timestamp(toTheSecond(trade.at)),
      direction: trade.direction,
      lotSize: decimal(trade.lots),
      price: decimal(trade.price),
      action: trade.action,
    })),
  }
}

/** `statusOf`: the trading status of a player that can be traded; null for any other. */
export function moversJson(
  { asOf, ...boards }: MoversBoard,
  statusOf: (id: InstrumentId) => z.output<typeof InstrumentBody>['tradingStatus'] | null,
): z.output<typeof MoversBody> {
  const shown = (mover: Mover) => ({
    instrumentId: mover.instrumentId,
    name: mover.name,
    position: mover.role,
    team: { id: mover.team.id, name: mover.team.name, side: mover.side },
    fixtureId: mover.matchId,
    replay: isReplayFixture(mover.matchId),
    tradingStatus: statusOf(mover.instrumentId) ?? ('CLOSED' as const),
    currentPrice: decimal(mover.price),
    changePct: mover.changePpm / PPM_PER_PERCENT,
    volume: decimal(mover.volume),
  })
  return {
    gainers: boards.gainers.map(shown),
    losers: boards.losers.map(shown),
    mostTraded: boards.mostTraded.map(shown),
    asOf: timestamp(asOf),
  }
}

const order = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1)

/** Sorted by time of play, because the provider sends events in no order. One without a minute is the last. */
export function matchEventsJson({ matchId, events, teamStats }: MatchInfo): z.output<typeof MatchEventsBody> {
  const minuteOf = ({ minute, extraMinute }: ReportedEvent): number =>
    minute === null ? Infinity : minute * 100 + (extraMinute ?? 0)
  return {
    fixtureId: matchId,
    events: events
      .toSorted((a, b) => (a.period ?? 0) - (b.period ?? 0) || order(minuteOf(a), minuteOf(b)) || a.id - b.id)
      .map((event) => ({
        id: event.id,
        type: event.kind,
        minute: event.minute,
        extraMinute: event.extraMinute,
        team: event.side,
        playerId: event.playerId,
        playerName: event.playerName,
        relatedPlayerName: event.relatedPlayerName,
        result: event.result,
        retracted: event.retracted,
      })),
    teamStats:
      teamStats === null ? { home: {}, away: {} } : { home: { ...teamStats.home }, away: { ...teamStats.away } },
  }
}

/** Starters first, then by shirt number. */
export function squadJson(match: MatchInfo, side: Side): z.output<typeof SquadBody> {
  const shirt = (player: FixturePlayer): number => player.jersey ?? Infinity
  return {
    team: { id: match[side].id, name: match[side].name, side },
    players: match.squad
      .filter((player) => player.side === side)
      .toSorted((a, b) => Number(b.starter) - Number(a.starter) || shirt(a) - shirt(b) || a.playerId - b.playerId)
      .map((player) => ({
        playerId: player.playerId,
        instrumentId: player.instrumentId,
        name: player.name,
        position: player.role,
        jerseyNumber: player.jersey,
        starter: player.starter,
        stats: namedStatistics(player.details ?? {}),
      })),
  }
}

const teamJson = ({ id, name, goals, shootout }: FixtureTeam) => ({
  id,
  name,
  score: goals,
  shootout: shootout ?? null,
})

export function matchJson(match: MatchInfo, now: Instant, rules: TradingRules): z.output<typeof MatchBody> {
  return {
    id: match.matchId,
    name: match.name,
    league: match.league,
    replay: match.replay,
    purse: match.purse,
    startsAt: timestamp(match.startsAt),
    state: match.state,
    stateId: match.stateId,
    minute: match.minute,
    home: teamJson(match.home),
    away: teamJson(match.away),
    tradeWindow: windowJson(match, now, rules),
    ...(rules.protection === null ? {} : { fillsMovableMs: Math.ceil(movableMs(match, rules.protection.lateMs)) }),
  }
}

export function userJson(user: User, wallet: WalletAfter): z.output<typeof UserBody> {
  return {
    userId: user.id,
    username: user.username,
    name: user.name,
    firstName: user.firstName,
    lastName: user.lastName,
    email: user.email,
    picture: user.picture,
    role: user.role,
    status: user.status,
    districtId: user.districtId,
    xp: user.xp,
    level: levelOf(user.xp),
    referralCode: user.referralCode,
    hiddenFromBoards: user.hiddenFromBoards,
    createdAt: timestamp(user.createdAt),
    wallet: walletJson(wallet, 'main'),
  }
}

export const ledgerEntryJson = ({ kind, amount, positionId, at }: LedgerEntry) => ({
  kind,
  amount: decimal(amount),
  positionId,
  at: timestamp(at),
})

/** A quote without its refusal. */
export function quoteJson(quote: QuoteAnswer) {
  return {
    fillPrice: decimal(quote.fillPrice),
    exitPrice: decimal(quote.exitPrice),
    impact: decimal(quote.impact),
    currentPrice: decimal(quote.currentPrice),
    margin: decimal(quote.margin),
    washoutPrice: decimalOrNull(quote.washoutPrice),
    pnlAtStopLoss: decimalOrNull(quote.pnlAtStopLoss),
    pnlAtTakeProfit: decimalOrNull(quote.pnlAtTakeProfit),
    maxLotSize: decimal(quote.maxLots),
  }
}

export const notificationJson = (notification: Notification): z.output<typeof NotificationBody> => ({
  id: String(notification.id),
  type: notification.type,
  title: notification.title,
  body: notification.body,
  data: { ...notification.data },
  read: notification.read,
  createdAt: timestamp(notification.createdAt),
})
