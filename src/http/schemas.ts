/**
 * The shapes on the wire that several routes or the page share, named as the specification names them. They validate,
 * type and document. Together their examples tell one story: Ada holds half a lot of A. Striker in the 63rd minute.
 */
import { NOTICE_TYPES } from '../../actors/community/notices.ts'
import { WINDOW_STATUSES } from '../../actors/kernel/outcome.ts'
import { CLOSED_BY, DIRECTIONS } from '../../actors/position/position.ts'
import { z } from '@hono/zod-openapi'
import { PURSES } from '../../actors/kernel/purse.ts'
import { EVENT_KINDS, ROLES, SIDES } from '../../actors/market/fixture.ts'
import { CAUSES } from '../../actors/market/instrument.ts'
import { protectedFields, protectedMatchFields } from './protected-fields.ts'
import { ReasonBody } from './reason-schema.ts'

export const timestampText = z.string().openapi({ format: 'date-time', example: '2026-05-02T14:00:00.000Z' })
export const amount = z.number().openapi({ description: 'Units, at most 6 decimals.' })
export const priceNumber = z.number().openapi({ description: 'Units, at most 6 decimals.', example: 206.31 })
export const lotNumber = z.number().openapi({ description: 'Lots, at most 6 decimals.', example: 0.5 })

export const userIdText = z.uuid().openapi({ example: '0197f2a0-1c2d-7d3e-8f40-5a6b7c8d9e0f' })
export const usernameText = z.string().openapi({ example: 'ada_l' })
export const districtNumber = z.int().openapi({ example: 1 })
export const playerName = z.string().openapi({ example: 'A. Striker' })
export const positionIdText = z.uuid().openapi({ example: '0197f2a0-5d5b-7cc4-8f3e-1d2c3b4a5968' })
export const instrumentIdText = z.uuid().openapi({ example: '0198f3a2-7c1d-8e00-8f00-0123456789ab' })
export const fixtureNumber = z.int().openapi({ example: 19_155_071 })
const replay = z.boolean().openapi({ description: 'True if the match replays a recording.', example: false })
const COMMON_TEXT =
  '`main`: the game. `practice`: replays for practice; what is won there counts on the practice boards alone.'
export const commonPurse = z.enum(PURSES).openapi({ description: COMMON_TEXT, example: 'main' })
export const PURSE_TEXT = `${COMMON_TEXT} The id of a league: its own, which no other purse ever notices.`
export const purseName = z.string().openapi({ description: PURSE_TEXT, example: 'main' })
export const role = z.enum(ROLES).openapi({ example: 'FWD' })
const contractSize = z.number().openapi({ example: 5 })
const leverage = z.number().openapi({ example: 10 })
const team = z.object({
  id: z.int().openapi({ example: 101 }),
  name: z.string().openapi({ example: 'Harbour' }),
  side: z.enum(SIDES),
})

export const WindowBody = z
  .object({
    fixtureId: fixtureNumber,
    status: z.enum(WINDOW_STATUSES),
    open: z.boolean().openapi({ description: 'True if `status` is `OPEN`: positions can be opened.', example: true }),
    state: z.string().nullable().openapi({ description: "The provider's state name.", example: 'INPLAY_2ND_HALF' }),
    reason: z.string().nullable().openapi({ description: 'Why trading is not open, or null.', example: null }),
    holdSecs: z.number().openapi({
      description: 'Seconds for which the owner of a new position cannot close it, as in force now.',
      example: 180,
    }),
    serverTime: timestampText,
  })
  .openapi('TradeWindow')

const matchTeam = (id: number, name: string, score: number) =>
  z.object({
    id: z.int().openapi({ example: id }),
    name: z.string().openapi({ example: name }),
    score: z.int().nullable().openapi({ example: score }),
    shootout: z.int().nullable().openapi({ description: 'Not in `score`; null if there is none.', example: null }),
  })

export const MatchBody = z
  .object({
    id: fixtureNumber,
    name: z.string().openapi({ example: 'Harbour vs Hill' }),
    league: z.string().openapi({ example: 'Coastal League' }),
    replay,
    purse: commonPurse,
    startsAt: timestampText,
    state: z.string().nullable().openapi({ description: "The provider's state name.", example: 'INPLAY_2ND_HALF' }),
    stateId: z.int().nullable().openapi({ description: "The provider's state number.", example: 22 }),
    minute: z.int().nullable().openapi({ description: 'By the match clock; null before kick-off.', example: 63 }),
    home: matchTeam(101, 'Harbour', 2),
    away: matchTeam(102, 'Hill', 1),
    tradeWindow: WindowBody,
    ...protectedMatchFields,
  })
  .openapi('Match')

export const InstrumentBody = z
  .object({
    id: instrumentIdText,
    name: playerName,
    position: role,
    team,
    fixtureId: fixtureNumber,
    replay,
    purse: commonPurse,
    currentPrice: priceNumber.openapi({
      description: '`live_base_price + k_mod × net_position_imbalance`. Once the match has ended it stands still.',
    }),
    live_base_price: priceNumber.openapi({ description: 'The price from match data alone.', example: 206.307 }),
    net_position_imbalance: lotNumber.openapi({ description: 'Open long lots − open short lots.', example: 3 }),
    k_mod: z.number().openapi({
      description: 'Price per lot of imbalance, as in force now.',
      example: 0.001,
    }),
    last_published_price: priceNumber.openapi({ description: 'The last price sent to clients.', example: 206.3 }),
    changePct: z.number().openapi({
      description: 'Change in per cent over the last 24 hours, or since the match began if that is later.',
      example: 3.15,
    }),
    tradingStatus: z.enum(WINDOW_STATUSES),
    minLot: lotNumber.openapi({ example: 0.01 }),
    maxLot: lotNumber.openapi({ example: 100 }),
    lotStep: lotNumber.openapi({ example: 0.01 }),
    contractSize,
    leverage,
  })
  .openapi('Instrument')

export const PERIODS = ['5m', '1h', '6h', '1d', 'all'] as const

const TickBody = z.object({
  at: timestampText,
  price: priceNumber,
  cause: z.enum(CAUSES).openapi({
    description:
      'What moved the price: the listing, match data, an in-game event, a trade (imbalance), settlement, or a ' +
      'change of the rules by an operator.',
    example: 'event',
  }),
  eventId: z.int().nullable().openapi({
    description: 'The event of the match that moved it, as `GET /api/matches/{id}/events` lists it, or null.',
    example: 7_012,
  }),
  reason: ReasonBody,
})

export const PriceHistoryBody = z
  .object({
    instrumentId: instrumentIdText,
    period: z.enum(PERIODS),
    ticks: z.array(TickBody).openapi({
      description: 'Oldest first, at most 500. A longer period is thinned evenly, except ticks of match events.',
    }),
    stats: z
      .object({
        open: priceNumber.nullable().openapi({ example: 199.4 }),
        high: priceNumber.nullable().openapi({ example: 207.02 }),
        low: priceNumber.nullable().openapi({ example: 198.75 }),
        volume: lotNumber.openapi({ description: 'Lots opened and closed in the period.', example: 184.5 }),
        changePct: z.number().nullable().openapi({
          description: 'Change in per cent from the first to the last tick.',
          example: 3.15,
        }),
        firstTickAt: z.string().nullable().openapi({
          description: "Time of the instrument's first tick ever, or null.",
          example: '2026-05-02 14:00:00.0000+00',
        }),
      })
      .openapi({ description: '`open`, `high`, `low` and `changePct` are over the ticks returned.' }),
  })
  .openapi('PriceHistory')

const MoverBody = z
  .object({
    instrumentId: instrumentIdText,
    name: playerName,
    position: role,
    team,
    fixtureId: fixtureNumber,
    replay,
    tradingStatus: z.enum(WINDOW_STATUSES),
    currentPrice: priceNumber,
    changePct: z.number().openapi({ description: 'Change in per cent over the last 24 hours.', example: 3.15 }),
    volume: lotNumber.openapi({ description: 'Lots opened and closed in the last 24 hours.', example: 184.5 }),
  })
  .openapi('Mover')

export const MoversBody = z
  .object({
    gainers: z.array(MoverBody),
    losers: z.array(MoverBody),
    mostTraded: z.array(MoverBody),
    asOf: timestampText.openapi({ description: 'When it was computed, at most 60 seconds ago.' }),
  })
  .openapi('Movers')

const statistics = z.record(z.string(), z.number())

export const MatchEventsBody = z
  .object({
    fixtureId: fixtureNumber,
    events: z.array(
      z.object({
        id: z.int().openapi({ example: 7_012 }),
        type: z.enum(EVENT_KINDS).openapi({ example: 'goal' }),
        minute: z.int().nullable().openapi({ description: 'Null while the provider does not say when.', example: 63 }),
        extraMinute: z.int().nullable().openapi({ example: null }),
        team: z.enum(SIDES).nullable(),
        playerId: z.int().nullable().openapi({ example: 37_612_048 }),
        playerName: playerName.nullable(),
        relatedPlayerName: z.string().nullable().openapi({
          description: 'The assist of a goal; the player who goes off in a substitution.',
          example: 'B. Wing',
        }),
        result: z.string().nullable().openapi({ description: 'The score after a goal.', example: '2-1' }),
        retracted: z.boolean().openapi({ description: 'True if it was reported and then called off.', example: false }),
      }),
    ),
    teamStats: z
      .object({
        home: statistics.openapi({ example: { 'Shots On Target': 6, Corners: 4, 'Ball Possession %': 61 } }),
        away: statistics.openapi({ example: { 'Shots On Target': 2, Corners: 1, 'Ball Possession %': 39 } }),
      })
      .openapi({
        description: "Under the provider's names. Sums over the players if the provider has no team statistics.",
      }),
  })
  .openapi('MatchEvents')

export const SquadBody = z
  .object({
    team,
    players: z.array(
      z.object({
        playerId: z.int().openapi({ example: 37_612_048 }),
        instrumentId: instrumentIdText,
        name: playerName,
        position: role.nullable(),
        jerseyNumber: z.int().nullable().openapi({ example: 9 }),
        starter: z.boolean().openapi({ example: true }),
        stats: statistics.openapi({ example: { Goals: 1, 'Shots On Target': 3, Rating: 7.8 } }),
      }),
    ),
  })
  .openapi('Squad')

export const PositionBody = z
  .object({
    id: positionIdText,
    instrumentId: instrumentIdText,
    partOf: positionIdText.nullable().openapi({
      description: 'The position that it is a closed part of; null for one that was opened.',
      example: null,
    }),
    fixtureId: fixtureNumber,
    replay,
    purse: purseName,
    direction: z.enum(DIRECTIONS),
    lotSize: lotNumber,
    contractSize,
    leverage,
    openPrice: priceNumber.openapi({ example: 200 }),
    currentPrice: priceNumber.openapi({ description: 'The close price if the position is closed.' }),
    exitPrice: priceNumber.openapi({
      description:
        'What closing it alone would fill at now: the mean of the price over the move that the close causes. Levels, warnings and the ' +
        'washout look at this price. The close price if the position is closed.',
    }),
    margin: amount.openapi({ example: 50 }),
    unrealizedPnl: amount.openapi({ description: 'At `exitPrice`; 0 if the position is closed.', example: 15.775 }),
    stopLoss: priceNumber.nullable().openapi({ example: 190 }),
    takeProfit: priceNumber.nullable().openapi({ example: null }),
    washoutPrice: priceNumber.nullable().openapi({
      description: 'The price at which the loss equals the margin; the position closes there.',
      example: 180,
    }),
    status: z.enum(['open', 'closed']),
    openedAt: timestampText.openapi({ example: '2026-05-02T14:30:00.000Z' }),
    closableAt: timestampText.openapi({
      description: 'When its owner may first close it.',
      example: '2026-05-02T14:33:00.000Z',
    }),
    closePrice: priceNumber.nullable().openapi({ example: null }),
    realizedPnl: amount.nullable().openapi({ example: null }),
    closedAt: timestampText.nullable().openapi({ example: null }),
    closedBy: z
      .enum(CLOSED_BY)
      .nullable()
      .openapi({
        description:
          'What closed it; null while it is open. A match that an operator ends closes its positions by `full_time` ' +
          'or `void`. `admin` is reserved.',
        example: null,
      }),
    voidReason: z.enum(['operator']).nullable().openapi({
      description: 'Why the position alone was voided. `operator`: an operator has voided it; `voidNote` says why.',
      example: null,
    }),
    voidNote: z.string().nullable().openapi({ description: 'Why an operator has voided it.', example: null }),
    ...protectedFields,
  })
  .openapi('Position')

export const WalletBody = z
  .object({
    purse: purseName,
    balance: amount.openapi({ example: 9_950 }),
    marginUsed: amount.openapi({ example: 50 }),
    unrealizedPnl: amount.openapi({ example: 15.775 }),
    equity: amount.openapi({ description: '`balance + unrealizedPnl`.', example: 9_965.775 }),
    freeMargin: amount.openapi({ description: 'Units free to open with.', example: 9_950 }),
    currency: z.literal('UNIT'),
  })
  .openapi('Wallet')

const LevelWarningBody = z
  .object({
    code: z.enum(['STOP_LOSS_BEYOND_WASHOUT']).openapi({ description: 'For programs. More codes may be added.' }),
    message: z.string().openapi({
      description: 'For people.',
      example: 'The stop-loss 175 lies beyond the washout price 180: the position washes out before it can fire.',
    }),
    level: priceNumber.openapi({ description: 'The level as it was accepted.', example: 175 }),
    washoutPrice: priceNumber.openapi({ example: 180 }),
  })
  .openapi('LevelWarning')

/** What was accepted and will hardly do what its sender wants. */
export const levelWarnings = z.array(LevelWarningBody).openapi({
  description: 'Levels that were accepted and can never fire; empty if there are none, and for a closed position.',
  example: [],
})

export const TradeBody = z
  .object({ position: PositionBody, wallet: WalletBody, warnings: levelWarnings })
  .openapi('Trade')

const marker = z.string().openapi({ description: 'Send it as `since` to get what follows.', example: '42' })

export const AccountEventBody = z
  .object({
    marker,
    type: z.enum(['opened', 'changed', 'margin_warning', 'closed', 'corrected']).openapi({ example: 'margin_warning' }),
    purse: purseName,
    at: timestampText,
    marginLostPct: z
      .int()
      .nullable()
      .openapi({ description: '50 or 80 for a margin warning, else null.', example: 50 }),
    position: PositionBody.openapi({
      description:
        'As the event left it, at the current price of its instrument. The close of a part brings two events: `changed` ' +
        'with the rest, then `closed` with the part.',
    }),
  })
  .openapi('AccountEvent')

export const AccountChangesBody = z
  .object({
    marker,
    snapshot: z.boolean().openapi({
      description: 'True if `positions` replaces what the client knows, and `events` is empty.',
      example: false,
    }),
    events: z.array(AccountEventBody),
    positions: z.array(PositionBody).nullable().openapi({
      description: 'Every open position if this is a snapshot, else null.',
      example: null,
    }),
    more: z.boolean().openapi({ description: 'True if more events follow after `marker`.', example: false }),
  })
  .openapi('AccountChanges')

export const NotificationBody = z
  .object({
    id: z.string().openapi({ example: '41' }),
    type: z.enum(NOTICE_TYPES).openapi({ example: 'margin_warning' }),
    title: z.string().openapi({ example: '50 % of a margin lost' }),
    body: z.string().openapi({ example: 'Your long on A. Striker has lost 50 % of its margin.' }),
    data: z.record(z.string(), z.unknown()).openapi({
      example: {
        positionId: '0197f2a0-5d5b-7cc4-8f3e-1d2c3b4a5968',
        instrumentId: '0198f3a2-7c1d-8e00-8f00-0123456789ab',
        lostPct: 50,
      },
    }),
    read: z.boolean().openapi({ example: false }),
    createdAt: timestampText,
  })
  .openapi('Notification')

/** The `responses` entry of an answer with this body. */
export const json = <Schema extends z.ZodType>(schema: Schema, description: string) => ({
  description,
  content: { 'application/json': { schema } },
})
