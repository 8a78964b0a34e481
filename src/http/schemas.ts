/** The shapes on the wire, named as the specification names them. The same schemas type the answers and document them. */
import { z } from '@hono/zod-openapi'
import { districtId, fixtureId, instrumentId, positionId, userId } from '../../actors/kernel/ids.ts'
import { microsFromDecimal } from '../../actors/kernel/micros.ts'
import { EVENT_KINDS } from '../../actors/market/fixture.ts'
import { CAUSES } from '../../actors/market/instrument.ts'

export const timestampText = z.string().openapi({ format: 'date-time', example: '2026-05-02T14:00:00.000Z' })
const replay = z.boolean().openapi({ description: 'Whether a recording plays, not the world.' })
const amount = z.number().openapi({ description: 'Units, at most 6 decimals.' })
const priceNumber = z.number().openapi({ description: 'Units, at most 6 decimals.' })
const lotNumber = z.number().openapi({ description: 'Lots, at most 6 decimals.' })

export const WindowBody = z
  .object({
    fixtureId: z.int(),
    status: z.enum(['OPEN', 'SUSPENDED', 'CLOSED']),
    open: z.boolean().openapi({ description: 'Whether new positions are taken: `status` is `OPEN`.' }),
    state: z.string().nullable().openapi({ description: "The provider's state name." }),
    reason: z.string().nullable().openapi({ description: 'Why it is not open, or null.' }),
    serverTime: timestampText,
  })
  .openapi('TradeWindow')

const MatchTeam = z.object({ id: z.int(), name: z.string(), score: z.int().nullable() })

export const MatchBody = z
  .object({
    id: z.int(),
    name: z.string(),
    league: z.string(),
    replay,
    startsAt: timestampText,
    state: z.string().nullable(),
    stateId: z.int().nullable(),
    minute: z.int().nullable().openapi({ description: 'The minute on the match clock, null before kick-off.' }),
    home: MatchTeam,
    away: MatchTeam,
    tradeWindow: WindowBody,
  })
  .openapi('Match')

export const InstrumentBody = z
  .object({
    id: z.uuid(),
    name: z.string(),
    position: z.enum(['GK', 'DEF', 'MID', 'FWD']),
    team: z.object({ id: z.int(), name: z.string(), side: z.enum(['home', 'away']) }),
    fixtureId: z.int(),
    replay,
    currentPrice: priceNumber.openapi({
      description:
        '`live_base_price + k_mod × net_position_imbalance`; once his match is settled, the settlement price.',
    }),
    live_base_price: priceNumber,
    net_position_imbalance: lotNumber.openapi({ description: 'Open long lots − open short lots.' }),
    k_mod: z.number().openapi({ description: 'Price per lot of imbalance, as in force now.' }),
    last_published_price: priceNumber,
    changePct: z.number().openapi({ description: 'Percent over the last 24 hours, or since his match began.' }),
    tradingStatus: z.enum(['OPEN', 'SUSPENDED', 'CLOSED']),
    minLot: lotNumber,
    maxLot: lotNumber,
    lotStep: lotNumber,
    contractSize: z.number(),
    leverage: z.number(),
  })
  .openapi('Instrument')

export const PERIODS = ['5m', '1h', '6h', '1d', 'all'] as const

export const PriceHistoryBody = z
  .object({
    instrumentId: z.uuid(),
    period: z.enum(PERIODS),
    ticks: z
      .array(
        z.object({
          at: timestampText,
          price: priceNumber,
          cause: z.enum(CAUSES).openapi({
            description:
              'What moved it: he was listed, match data, an in-game event, a trade (imbalance), or settlement.',
          }),
          eventId: z.int().nullable().openapi({ description: 'What it was, as in the events of the match; or null.' }),
        }),
      )
      .openapi({ description: 'The oldest first; at most 500, thinned evenly when the period holds more.' }),
    stats: z
      .object({
        open: priceNumber.nullable(),
        high: priceNumber.nullable(),
        low: priceNumber.nullable(),
        volume: lotNumber.openapi({ description: 'Lots opened and closed in the period.' }),
        changePct: z.number().nullable().openapi({ description: 'Per cent from the first to the last tick.' }),
        firstTickAt: z.string().nullable().openapi({
          description: 'His earliest tick ever, or null.',
          example: '2026-05-02 14:00:00.0000+00',
        }),
      })
      .openapi({ description: '`open`, `high`, `low` and `changePct` are over the ticks returned.' }),
  })
  .openapi('PriceHistory')

export const RecentTradesBody = z
  .object({
    trades: z.array(
      z.object({
        at: timestampText.openapi({ description: 'Rounded to the second.' }),
        direction: z.enum(['long', 'short']).openapi({ description: 'Of the position that was opened or closed.' }),
        lotSize: lotNumber,
        price: priceNumber,
        action: z.enum(['open', 'close']),
      }),
    ),
  })
  .openapi('RecentTrades')

const MoverBody = z
  .object({
    instrumentId: z.uuid(),
    name: z.string(),
    position: z.enum(['GK', 'DEF', 'MID', 'FWD']),
    team: z.object({ id: z.int(), name: z.string(), side: z.enum(['home', 'away']) }),
    fixtureId: z.int(),
    replay,
    currentPrice: priceNumber,
    changePct: z.number().openapi({ description: 'Per cent over the last 24 hours.' }),
    volume: lotNumber.openapi({ description: 'Lots opened and closed in the last 24 hours.' }),
  })
  .openapi('Mover')

export const MoversBody = z
  .object({
    gainers: z.array(MoverBody),
    losers: z.array(MoverBody),
    mostTraded: z.array(MoverBody),
    asOf: timestampText.openapi({ description: 'The answer is kept for 60 seconds.' }),
  })
  .openapi('Movers')

const figures = z.record(z.string(), z.number())

export const MatchEventsBody = z
  .object({
    fixtureId: z.int(),
    events: z.array(
      z.object({
        id: z.int(),
        type: z.enum(EVENT_KINDS),
        minute: z.int(),
        extraMinute: z.int().nullable(),
        team: z.enum(['home', 'away']).nullable(),
        playerId: z.int().nullable(),
        playerName: z.string().nullable(),
        relatedPlayerName: z
          .string()
          .nullable()
          .openapi({ description: 'The assist of a goal; of a substitution, who goes off.' }),
        result: z.string().nullable().openapi({ description: 'The running score of a goal.', example: '2-1' }),
        retracted: z.boolean().openapi({ description: 'It was reported and does not count any more.' }),
      }),
    ),
    teamStats: z.object({ home: figures, away: figures }).openapi({
      description: "Under the data provider's names; what players add up to where a fixture has no statistics.",
    }),
  })
  .openapi('MatchEvents')

export const SquadBody = z
  .object({
    team: z.object({ id: z.int(), name: z.string(), side: z.enum(['home', 'away']) }),
    players: z.array(
      z.object({
        playerId: z.int(),
        instrumentId: z.uuid(),
        name: z.string(),
        position: z.enum(['GK', 'DEF', 'MID', 'FWD']).nullable(),
        jerseyNumber: z.int().nullable(),
        starter: z.boolean(),
        stats: figures,
      }),
    ),
  })
  .openapi('Squad')

export const PositionBody = z
  .object({
    id: z.uuid(),
    instrumentId: z.uuid(),
    fixtureId: z.int(),
    replay,
    direction: z.enum(['long', 'short']),
    lotSize: lotNumber,
    contractSize: z.number(),
    leverage: z.number(),
    openPrice: priceNumber,
    currentPrice: priceNumber.openapi({ description: 'The close price once it is closed.' }),
    margin: amount,
    unrealizedPnl: amount.openapi({ description: '0 once it is closed.' }),
    stopLoss: priceNumber.nullable(),
    takeProfit: priceNumber.nullable(),
    washoutPrice: priceNumber.nullable().openapi({ description: 'Where its loss has eaten its margin.' }),
    status: z.enum(['open', 'closed']),
    openedAt: timestampText,
    closableAt: timestampText.openapi({ description: 'From here on its owner may close it.' }),
    closePrice: priceNumber.nullable(),
    realizedPnl: amount.nullable(),
    closedAt: timestampText.nullable(),
    closedBy: z
      .enum(['user', 'stop_loss', 'take_profit', 'washout', 'full_time', 'void', 'admin'])
      .nullable()
      .openapi({
        description:
          'Null while it is open. A match that an operator ends closes by `full_time` or `void`, as he says; `admin` is ' +
          'kept for closing a single position, which no route does.',
      }),
  })
  .openapi('Position')

export const WalletBody = z
  .object({
    balance: amount,
    marginUsed: amount,
    unrealizedPnl: amount,
    equity: amount.openapi({ description: '`balance + unrealizedPnl`.' }),
    freeMargin: amount.openapi({ description: '`balance`: margin in use has left it already.' }),
    currency: z.literal('UNIT'),
  })
  .openapi('Wallet')

export const TradeBody = z.object({ position: PositionBody, wallet: WalletBody }).openapi('Trade')

const marker = z.string().openapi({ description: 'Ask for what follows with `since`.', example: '42' })

export const AccountEventBody = z
  .object({
    marker,
    type: z.enum(['opened', 'changed', 'margin_warning', 'closed']),
    at: timestampText,
    marginLostPct: z.int().nullable().openapi({ description: 'Of a margin warning: 50 or 80.' }),
    position: PositionBody.openapi({ description: 'As the event left it, at the current price of its instrument.' }),
  })
  .openapi('AccountEvent')

export const AccountChangesBody = z
  .object({
    marker,
    snapshot: z.boolean().openapi({ description: 'Whether `positions` replaces what you know, instead of `events`.' }),
    events: z.array(AccountEventBody),
    positions: z.array(PositionBody).nullable().openapi({ description: 'Of a snapshot: every open position.' }),
    more: z.boolean().openapi({ description: 'Whether more events follow after `marker`.' }),
  })
  .openapi('AccountChanges')

export const NotificationBody = z
  .object({
    id: z.string(),
    type: z.enum(['position_closed', 'margin_warning', 'settlement', 'badge', 'level', 'referral_credited', 'spinner']),
    title: z.string(),
    body: z.string(),
    data: z.record(z.string(), z.unknown()),
    read: z.boolean(),
    createdAt: timestampText,
  })
  .openapi('Notification')

export const UserBody = z
  .object({
    userId: z.uuid(),
    username: z.string(),
    firstName: z.string(),
    lastName: z.string().nullable(),
    email: z.string(),
    picture: z.string().nullable(),
    role: z.string(),
    districtId: z.int(),
    xp: z.int(),
    level: z.int(),
    referralCode: z.string(),
    createdAt: timestampText,
    wallet: WalletBody,
  })
  .openapi('User')

const uuid = () => z.guid().toLowerCase().openapi({ format: 'uuid' })

export const InstrumentIdInput = uuid().transform(instrumentId)
export const PositionIdInput = uuid().transform(positionId)
export const UserIdInput = uuid().transform(userId)

/** A name or the like: a line of text without control characters. */
export const LineInput = z
  .string()
  .trim()
  .min(1)
  .max(64)
  .regex(/^\P{C}*$/u, 'must not contain control characters')
  // The library would put the flag of the expression into the pattern.
  .openapi({ pattern: '^\\P{C}*$' })

const UINT32_MAX = 0xffff_ffff

export const FixtureIdInput = z
  .string()
  .refine((text) => /^[1-9]\d{0,9}$/.test(text) && Number(text) <= UINT32_MAX, { error: 'must be a fixture number' })
  .openapi({ example: '19155071' })
  .transform((text) => fixtureId(Number(text)))

export const DistrictIdInput = z.int().min(1).max(2_147_483_647).transform(districtId)

/** A decimal on the wire as micros of one kind. Refuses what has more than 6 decimals or lies out of range. */
export const decimalInput = <T>(kind: (micros: number) => T, wire: z.ZodNumber = z.number()) =>
  wire.transform((value, ctx): T => {
    const micros = microsFromDecimal(value)
    if (micros !== null) return kind(micros)
    ctx.addIssue({ code: 'custom', message: 'must have at most 6 decimals and lie within ±1,000,000,000' })
    return z.NEVER
  })

/** The `responses` entry of an answer with this body. */
export const json = <Schema extends z.ZodType>(schema: Schema, description: string) => ({
  description,
  content: { 'application/json': { schema } },
})
