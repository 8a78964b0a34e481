/** The bodies of the specification, field by field. Extra fields are allowed, missing ones are not. */
import { z } from 'zod'

const timestamp = z.iso.datetime()
/** A decimal with at most six places, as all money, prices and lots are. */
const decimal = z.number().refine((value) => Number(value.toFixed(6)) === value, 'has more than six decimals')
const side = z.enum(['home', 'away'])
const team = z.looseObject({ id: z.int(), name: z.string(), side })
const status = z.enum(['OPEN', 'SUSPENDED', 'CLOSED'])

export const Wallet = z.looseObject({
  balance: decimal,
  marginUsed: decimal,
  unrealizedPnl: decimal,
  equity: decimal,
  freeMargin: decimal,
  currency: z.literal('UNIT'),
})

export const Profile = z.looseObject({
  userId: z.uuid(),
  username: z.string(),
  name: z.string(),
  firstName: z.string(),
  lastName: z.string().nullable(),
  email: z.string(),
  picture: z.string().nullable(),
  role: z.string(),
  districtId: z.int(),
  xp: z.int(),
  level: z.int(),
  referralCode: z.string(),
  createdAt: timestamp,
  wallet: Wallet,
})
export const Me = Profile.extend({ loggedIn: z.literal(true) })
export const SignedIn = z.looseObject({ user: Profile, isNew: z.boolean() })
export const NeedsProfile = z.looseObject({
  needsProfile: z.literal(true),
  registrationTicket: z.string(),
  email: z.string(),
})

export const Instrument = z.looseObject({
  id: z.uuid(),
  name: z.string(),
  position: z.enum(['GK', 'DEF', 'MID', 'FWD']),
  team,
  fixtureId: z.int(),
  currentPrice: decimal,
  live_base_price: decimal,
  net_position_imbalance: decimal,
  k_mod: decimal,
  last_published_price: decimal,
  changePct: z.number(),
  tradingStatus: status,
  minLot: decimal,
  maxLot: decimal,
  lotStep: decimal,
  contractSize: z.number(),
  leverage: z.number(),
})
export const Instruments = z.looseObject({ instruments: z.array(Instrument) })

export const PriceHistory = z.looseObject({
  instrumentId: z.uuid(),
  period: z.string(),
  ticks: z.array(z.looseObject({ at: timestamp, price: decimal, cause: z.string() })).max(500),
  stats: z.looseObject({
    open: decimal.nullable(),
    high: decimal.nullable(),
    low: decimal.nullable(),
    volume: decimal,
    changePct: z.number().nullable(),
    firstTickAt: z
      .string()
      .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{4}\+00$/)
      .nullable(),
  }),
})
export const RecentTrades = z.looseObject({
  trades: z.array(
    z.looseObject({
      at: timestamp,
      direction: z.enum(['long', 'short']),
      lotSize: decimal,
      price: decimal,
      action: z.enum(['open', 'close']),
    }),
  ),
})
const mover = z.looseObject({
  instrumentId: z.uuid(),
  name: z.string(),
  tradingStatus: status,
  changePct: z.number(),
  volume: decimal,
})
export const Movers = z.looseObject({
  gainers: z.array(mover).max(5),
  losers: z.array(mover).max(5),
  mostTraded: z.array(mover).max(5),
  asOf: timestamp,
})

export const TradeWindow = z.looseObject({
  fixtureId: z.int(),
  status,
  open: z.boolean(),
  state: z.string().nullable(),
  reason: z.string().nullable(),
  serverTime: timestamp,
})
const scored = z.looseObject({ id: z.int(), name: z.string(), score: z.int().nullable() })
export const Match = z.looseObject({
  id: z.int(),
  name: z.string(),
  league: z.string(),
  startsAt: timestamp,
  state: z.string().nullable(),
  stateId: z.int().nullable(),
  minute: z.int().nullable(),
  home: scored,
  away: scored,
  tradeWindow: TradeWindow,
})
export const Matches = z.looseObject({ matches: z.array(Match) })
const figures = z.record(z.string(), z.number())
export const MatchEvents = z.looseObject({
  fixtureId: z.int(),
  events: z.array(
    z.looseObject({
      id: z.int(),
      type: z.string(),
      minute: z.int(),
      extraMinute: z.int().nullable(),
      team: side.nullable(),
      playerId: z.int().nullable(),
      playerName: z.string().nullable(),
      relatedPlayerName: z.string().nullable(),
      result: z.string().nullable(),
      retracted: z.boolean(),
    }),
  ),
  teamStats: z.looseObject({ home: figures, away: figures }),
})
export const Squad = z.looseObject({
  team,
  players: z.array(
    z.looseObject({
      playerId: z.int(),
      instrumentId: z.uuid(),
      name: z.string(),
      position: z.string().nullable(),
      jerseyNumber: z.int().nullable(),
      starter: z.boolean(),
      stats: figures,
    }),
  ),
})

export const Position = z.looseObject({
  id: z.uuid(),
  instrumentId: z.uuid(),
  fixtureId: z.int(),
  direction: z.enum(['long', 'short']),
  lotSize: decimal,
  contractSize: z.number(),
  leverage: z.number(),
  openPrice: decimal,
  currentPrice: decimal,
  exitPrice: decimal,
  margin: decimal,
  unrealizedPnl: decimal,
  stopLoss: decimal.nullable(),
  takeProfit: decimal.nullable(),
  washoutPrice: decimal.nullable(),
  status: z.enum(['open', 'closed']),
  openedAt: timestamp,
  closableAt: timestamp,
  closePrice: decimal.nullable(),
  realizedPnl: decimal.nullable(),
  closedAt: timestamp.nullable(),
  closedBy: z.enum(['user', 'stop_loss', 'take_profit', 'washout', 'full_time', 'void', 'admin']).nullable(),
})
export const Positions = z.looseObject({ positions: z.array(Position) })
const warnings = z.array(
  z.looseObject({ code: z.string(), message: z.string(), level: decimal, washoutPrice: decimal }),
)
export const Trade = z.looseObject({ position: Position, wallet: Wallet, warnings })
export const Quote = z.looseObject({
  fillPrice: decimal,
  exitPrice: decimal,
  impact: decimal,
  margin: decimal,
  washoutPrice: decimal.nullable(),
  pnlAtStopLoss: decimal.nullable(),
  pnlAtTakeProfit: decimal.nullable(),
  maxLotSize: decimal,
  warnings,
  refusal: z.looseObject({ error: z.string(), code: z.string() }).nullable(),
})
export const Ledger = z.looseObject({
  entries: z.array(z.looseObject({ amount: decimal, at: timestamp })),
})
export const AccountChanges = z.looseObject({
  marker: z.string(),
  snapshot: z.boolean(),
  events: z.array(z.looseObject({ marker: z.string(), type: z.string(), at: timestamp, position: Position })),
  positions: z.array(Position).nullable(),
  more: z.boolean(),
})

export const LegacyTrades = z.looseObject({ trades: z.array(z.looseObject({})) })
export const Portfolio = z.looseObject({ holdings: z.array(z.looseObject({})), balance: decimal, totalPnl: decimal })

const entry = z.looseObject({
  rank: z.int(),
  userId: z.uuid(),
  username: z.string(),
  districtId: z.int(),
  score: z.number(),
  roiPct: z.number(),
  pnl: decimal,
  winRate: z.number().min(0).max(1),
  trades: z.int(),
})
export const Board = z.looseObject({ entries: z.array(entry.extend({ isMe: z.boolean() })), total: z.int() })
export const Ranked = entry.extend({ ranked: z.literal(true) })
export const RankedContext = Ranked.extend({
  next: z.looseObject({ rank: z.int(), score: z.number(), gap: z.number() }).nullable(),
})
export const Standings = z.looseObject({
  districts: z.array(
    z.looseObject({
      rank: z.int().nullable(),
      districtId: z.int(),
      name: z.string(),
      members: z.int(),
      score: z.number().nullable(),
    }),
  ),
})
const candidate = z.looseObject({ userId: z.uuid(), username: z.string(), roiPct: z.number(), winRate: z.number() })
export const SpinnerWeek = z.looseObject({
  week: z.string().regex(/^\d{4}-W\d\d$/),
  status: z.enum(['open', 'tied', 'decided']),
  winner: candidate.optional(),
  candidates: z.array(candidate),
  /** Absent if no seed was published before the week ended. */
  seedHash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  seed: z.string().optional(),
  decidedAt: timestamp.optional(),
})
export const SpinnerHistory = z.looseObject({ weeks: z.array(SpinnerWeek) })
export const Notifications = z.looseObject({
  notifications: z.array(
    z.looseObject({
      id: z.string(),
      type: z.string(),
      title: z.string(),
      body: z.string(),
      data: z.looseObject({}),
      read: z.boolean(),
      createdAt: timestamp,
    }),
  ),
  unreadCount: z.int(),
  nextCursor: z.string().nullable(),
})
export const UnreadCount = z.looseObject({ unreadCount: z.int() })
export const Activity = z.looseObject({
  count: z.int(),
  events: z.array(
    z.looseObject({
      id: z.string(),
      type: z.string(),
      userId: z.uuid(),
      username: z.string(),
      districtId: z.int(),
      text: z.string(),
      data: z.looseObject({}),
      at: timestamp,
    }),
  ),
})
export const Referral = z.looseObject({
  id: z.uuid(),
  name: z.string().nullable(),
  code: z.string(),
  url: z.string(),
  status: z.enum(['unclaimed', 'pending', 'credited']),
  registered: z.boolean(),
  reward: decimal,
  createdAt: timestamp,
  creditedAt: timestamp.nullable(),
})
export const Referrals = z.looseObject({
  referrals: z.array(Referral),
  summary: z.looseObject({
    invited: z.int(),
    registered: z.int(),
    earned: z.int(),
    pending: z.int(),
    total_credited: decimal,
  }),
})
const badge = z.looseObject({ id: z.string(), name: z.string(), description: z.string() })
export const Achievements = z.looseObject({
  earned: z.array(badge),
  locked: z.array(badge.extend({ progress: z.looseObject({ current: z.number(), target: z.number() }) })),
})

export const Flags = z.record(z.string(), z.boolean())
export const Flag = z.looseObject({
  key: z.string(),
  enabled: z.boolean(),
  updatedAt: timestamp.nullable(),
  updatedBy: z.string().nullable(),
})
export const FlagList = z.looseObject({ flags: z.array(Flag) })
const value = z.union([z.number(), z.boolean(), z.string()])
export const Setting = z.looseObject({
  key: z.string(),
  value,
  type: z.string(),
  default: value,
  description: z.string(),
})
export const Settings = z.looseObject({ settings: z.array(Setting) })
export const Audit = z.looseObject({
  entries: z.array(
    z.looseObject({
      action: z.string(),
      subject: z.string(),
      actor: z.looseObject({ userId: z.string() }).nullable(),
      at: timestamp,
    }),
  ),
})
export const Users = z.looseObject({
  users: z.array(z.looseObject({ userId: z.uuid(), username: z.string(), email: z.string(), role: z.string() })),
  total: z.int(),
})
export const BotFixtures = z.looseObject({
  fixtures: z.array(z.looseObject({ id: z.string(), name: z.string(), minutes: z.int(), players: z.int() })),
})
export const Replays = z.looseObject({
  replays: z.array(
    z.looseObject({
      id: z.string(),
      fixtureId: z.string(),
      matchId: z.int(),
      minute: z.int().nullable(),
      speed: z.number(),
      traders: z.int(),
      state: z.string(),
    }),
  ),
})

export const WsToken = z.looseObject({ token: z.string() })
export const Districts = z.looseObject({ districts: z.array(z.looseObject({ id: z.int(), name: z.string() })) })
export const Username = z.looseObject({ available: z.boolean(), valid: z.boolean() })

export type Player = z.output<typeof Instrument>
export type PositionSeen = z.output<typeof Position>
export type TradeSeen = z.output<typeof Trade>

export const League = z.looseObject({
  id: z.uuid(),
  kind: z.enum(['private', 'season', 'tournament']),
  code: z.string().nullable(),
  name: z.string(),
  matchIds: z.array(z.int()),
})

const leaguePlace = z.looseObject({
  rank: z.int(),
  userId: z.uuid(),
  value: decimal,
  openPositions: z.int(),
})
export const LeagueTable = z.looseObject({ entries: z.array(leaguePlace), me: leaguePlace })

export const Season = z.looseObject({ id: z.string(), mine: League.nullable() })

export const TradingRecord = z.looseObject({
  total: z.looseObject({ trades: z.int(), pnl: decimal }),
  byDirection: z.array(z.looseObject({ direction: z.enum(['long', 'short']) })),
})

const tableRow = z.looseObject({ rank: z.int(), userId: z.string(), pnl: decimal, isMe: z.boolean() })

export const MatchTable = z.looseObject({
  final: z.boolean(),
  total: z.int(),
  entries: z.array(tableRow),
  me: tableRow.nullable(),
  around: z.array(tableRow),
})

export const PriceAlert = z.looseObject({ id: z.string(), level: decimal, direction: z.enum(['above', 'below']) })

export const Follows = z.looseObject({
  kinds: z.array(z.enum(['lineup', 'kickoff', 'goal', 'card', 'pitch'])),
  players: z.array(z.looseObject({ instrumentId: z.string(), player: z.string() })),
  alerts: z.array(PriceAlert),
})

export const PlayerProfile = z.looseObject({
  instrumentId: z.string(),
  currentPrice: decimal,
  start: z.looseObject({ price: decimal, last: decimal.nullable(), anchor: decimal }),
  matches: z.array(z.looseObject({ from: decimal, to: decimal })),
  holders: z.array(z.looseObject({ username: z.string() })),
})

export const Recap = z.looseObject({
  start: decimal,
  result: decimal,
  trades: z.int(),
  best: z.looseObject({ positionId: z.uuid() }).nullable(),
})
