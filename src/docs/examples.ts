/**
 * The examples of the API description: one story, in which Ada holds half a lot of A. Striker in the 63rd minute of a match
 * of bundled players. They are composed from the schemas, so that none shows a field that is not there.
 */

import { FLAGS, SETTINGS } from '../../actors/kernel/settings.ts'

/** A JSON schema as the description contains it. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly description?: string
  readonly required?: readonly string[]
  readonly example?: unknown
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly allOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
}
export type Schemas = Readonly<Record<string, Schema>>

const ADA = '0197f2a0-1c2d-7d3e-8f40-5a6b7c8d9e0f'
const STRIKER = '0198f3a2-7c1d-8e00-8f00-0123456789ab'
const HOLD = '0197f2a0-5d5b-7cc4-8f3e-1d2c3b4a5968'
const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.eyJ0eXAiOiJ3cyJ9.c2lnbmF0dXJl'
const SIGNED = (what: string): string => `eyJhbGciOiJIUzI1NiJ9.${Buffer.from(what).toString('base64url')}.c2lnbmVk`

/** Fields by name, `owner.name` where one name means several things. The owner is a schema's name, or the field it hangs on. */
const STORY: Readonly<Record<string, unknown>> = {
  accessToken: TOKEN,
  refreshToken: TOKEN,
  token: TOKEN,
  idToken: TOKEN,
  registrationTicket: SIGNED('ticket'),
  nonce: 'n-0S6_WzA2Mj',

  userId: ADA,
  'users.id': ADA,
  username: 'ada_l',
  firstName: 'Ada',
  lastName: 'Lovell',
  displayName: 'Ada',
  email: 'ada@touchline.example',
  picture: 'https://pictures.touchline.example/ada.jpg',
  role: 'user',
  districtId: 1,
  xp: 340,
  level: 3,
  referralCode: '5d0f9a3c71',
  isNew: false,
  'complete.isNew': true,
  resendInSecs: 60,
  count: 1,
  invitedBy: 'grace_h',
  valid: true,
  available: true,
  reason: undefined,
  'TradeWindow.reason': null,

  instrumentId: STRIKER,
  'Instrument.id': STRIKER,
  'instruments.id': STRIKER,
  'players.name': 'A. Striker',
  'Instrument.name': 'A. Striker',
  'Mover.name': 'A. Striker',
  name: 'Grace',
  playerName: 'A. Striker',
  relatedPlayerName: 'B. Wing',
  player: 'A. Striker',
  playerId: 37_612_048,
  jerseyNumber: 9,
  starter: true,
  position: 'FWD',
  stats: { Goals: 1, 'Shots On Target': 3, Rating: 7.8 },
  net_position_imbalance: 3,
  k_mod: 0.01,
  changePct: 3.15,
  live_base_price: 206.28,
  currentPrice: 206.31,
  last_published_price: 206.3,
  minLot: 0.01,
  maxLot: 100,
  lotStep: 0.01,
  contractSize: 5,
  leverage: 10,
  volume: 184.5,
  eventId: 7_012,
  'ticks.price': 206.31,
  'ticks.cause': 'event',
  'trades.price': 206.31,
  open: 199.4,
  high: 207.02,
  low: 198.75,
  'TradeWindow.open': true,

  fixtureId: 19_155_071,
  matchId: 19_155_071,
  'Match.id': 19_155_071,
  'Match.name': 'Harbour vs Hill',
  'Replay.fixtureId': 'goal-feast',
  'Replay.matchId': 4_000_000_017,
  'home.id': 101,
  'home.name': 'Harbour',
  'home.score': 2,
  'away.id': 102,
  'away.name': 'Hill',
  'away.score': 1,
  'team.id': 101,
  'team.name': 'Harbour',
  league: 'Coastal League',
  replay: false,
  state: 'INPLAY_2ND_HALF',
  'Replay.state': 'playing',
  stateId: 22,
  minute: 63,
  extraMinute: null,
  retracted: false,
  'events.id': 7_012,
  'events.type': 'goal',
  'teamStats.home': { 'Shots On Target': 6, Corners: 4, 'Ball Possession %': 61 },
  'teamStats.away': { 'Shots On Target': 2, Corners: 1, 'Ball Possession %': 39 },

  'Position.id': HOLD,
  'Position.fixtureId': 19_155_071,
  'Position.openPrice': 200,
  'Position.margin': 50,
  'Position.unrealizedPnl': 15.775,
  'Position.stopLoss': 190,
  'Position.takeProfit': null,
  'Position.washoutPrice': 180,
  'Position.status': 'open',
  'Position.closePrice': null,
  'Position.realizedPnl': null,
  'Position.closedAt': null,
  'Position.closedBy': null,
  'Position.openedAt': '2026-05-02T14:30:00.000Z',
  'Position.closableAt': '2026-05-02T14:33:00.000Z',
  'Wallet.balance': 9_950,
  'Wallet.freeMargin': 9_950,
  'Wallet.marginUsed': 50,
  'Wallet.unrealizedPnl': 15.775,
  'Wallet.equity': 9_965.775,
  'Quote.fillPrice': 206.315,
  'Quote.impact': 0.005,
  'Quote.margin': 51.57875,
  'Quote.washoutPrice': 185.6835,
  'Quote.pnlAtStopLoss': -40.7875,
  'Quote.pnlAtTakeProfit': 34.2125,
  'Quote.maxLotSize': 96.42,
  'Quote.refusal': null,
  'AccountEvent.type': 'margin_warning',
  marginLostPct: 50,
  more: false,
  snapshot: false,
  'AccountChanges.positions': null,
  lotSize: 0.5,
  clientPrice: 206.3,
  stopLoss: 190,
  takeProfit: 220,

  rank: 42,
  score: 12.5,
  roiPct: 12.5,
  pnl: 412.5,
  winRate: 0.62,
  trades: 21,
  isMe: true,
  members: 812,
  total: 12_804,
  gap: 0.8,
  'next.rank': 41,
  'next.score': 13.3,
  'DistrictStanding.name': 'Harbour',
  'DistrictStanding.rank': 3,
  'districts.id': 1,
  'districts.name': 'Harbour',
  rebuilt: 12_804,

  'SpinnerWeek.status': 'decided',
  'current.winner': undefined,
  'current.seed': undefined,
  'current.decidedAt': undefined,
  startsAt: '2026-05-02T14:00:00.000Z',
  'SpinnerWeek.startsAt': '2026-05-18T00:00:00.000Z',
  'SpinnerWeek.endsAt': '2026-05-25T00:00:00.000Z',
  'SpinnerWeek.publishedAt': '2026-05-18T00:00:00.000Z',
  'SpinnerWeek.decidedAt': '2026-05-25T00:00:09.000Z',
  'current.startsAt': '2026-05-25T00:00:00.000Z',
  'current.endsAt': '2026-06-01T00:00:00.000Z',
  'current.publishedAt': '2026-05-25T00:00:00.000Z',
  'current.week': '2026-W22',
  seed: '5f0c1a7e9d3b2f48a6c4e2d01b9f7a8c5e3d1f2b4a6c8e0d9f7b5a3c1e2d4f60',
  seedHash: 'f9dad6baba856aa4ec1c80dd114102d2d17a1c0f9b14be72ebc003fec2a07026',

  'Notification.id': '41',
  'Notification.type': 'margin_warning',
  title: '50 % of a margin lost',
  body: 'Your long on A. Striker has lost 50 % of its margin.',
  data: { positionId: HOLD, instrumentId: STRIKER, lostPct: 50 },
  read: false,
  unreadCount: 3,
  updated: 3,
  nextCursor: '41',
  cursor: '41',
  'ActivityEvent.id': '907',
  'ActivityEvent.type': 'big_win',

  code: '5d0f9a3c71',
  'Referral.id': '0197f2a0-9a3c-7b12-8c44-2f1e0d9c8b7a',
  'Referral.status': 'credited',
  url: 'https://play.touchline.example/join?ref=5d0f9a3c71',
  registered: true,
  reward: 100,
  'summary.invited': 4,
  'summary.registered': 3,
  'summary.earned': 2,
  'summary.pending': 1,
  total_credited: 200,

  'earned.id': 'first_whistle',
  'earned.name': 'First whistle',
  'earned.description': 'Open your first position',
  'LockedBadge.id': 'regular',
  'LockedBadge.name': 'Regular',
  'LockedBadge.description': 'Open 25 positions',
  'progress.current': 21,
  'progress.target': 25,

  'LegacyTrade.id': '5120',
  'LegacyTrade.total': 1_240,
  'trades.total': 1,
  'users.total': 12_930,
  quantity: 10,
  price: 124,
  averagePrice: 124,
  invested: 1_240,
  balance: 9_950,
  totalPnl: 452.5,
  legacyPnl: 40,
  positionsPnl: 412.5,

  key: 'trading.hold_secs',
  value: 180,
  'Flag.key': 'coming_soon',
  'Flag.default': false,
  'Flag.description': FLAGS.coming_soon.description,
  enabled: true,
  'Setting.default': 180,
  'Setting.type': 'number',
  'Setting.description': SETTINGS['trading.hold_secs'].description,
  'Setting.min': 0,
  'Setting.max': SETTINGS['trading.hold_secs'].max,
  'Setting.decimals': 0,
  options: undefined,
  updatedBy: 'ann',
  updatedAt: '2026-05-02T14:00:00.000Z',
  keys: 'scoring.multiplier.FWD.goal',
  'AuditEntry.id': 88,
  before: 180,
  after: 60,
  balanced: true,
  wallets: 12_930,
  imbalance: 0,
  unbalancedTransactions: 0,
  mismatchedWallets: 0,
  'ListedUser.name': 'Ada Lovell',
  synthetic: false,
  waiting: 0,
  oldestAt: null,
  seq: 4_711,
  error: 'profile needed',
  'SetAside.error': 'deadlock detected',
  attempts: 5,
  requestId: '0197f2a0-77aa-7b31-9d44-5c6d7e8f9a0b',

  'fixtures.id': 'goal-feast',
  'fixtures.name': 'Harbour vs Hill',
  'fixtures.title': 'A goal feast',
  minutes: 95,
  players: 44,
  'Replay.id': '0197f2a0-8b1d-7c2e-9f3a-4b5c6d7e8f90',
  started: '0197f2a0-8b1d-7c2e-9f3a-4b5c6d7e8f90',
  stopped: '0197f2a0-8b1d-7c2e-9f3a-4b5c6d7e8f90',
  progress: 0.64,
  speed: 10,
  traders: 20,
  demo: false,

  checks: { accepting: 'ok', database: 'ok', fastStore: 'ok' },
  csv: 'userId,username\r\n0197f2a0-1c2d-7d3e-8f40-5a6b7c8d9e0f,ada_l\r\n',
  openapi: '3.1.0',
  asyncapi: '3.0.0',
}

/** What the schemas have no word for. */
const FORMATS: Readonly<Record<string, unknown>> = { uuid: HOLD, 'date-time': '2026-05-02T14:30:00.000Z' }

export type Compose = (schema: Schema, owner?: string, name?: string) => unknown

/** Composes examples of schemas, of which these have names. Throws for a field of which nobody has said how it looks. */
export function composer(schemas: Schemas): Compose {
  const compose: Compose = (schema, owner = '', name = '') => {
    if (schema.$ref !== undefined) {
      const instead = told(owner, name)
      if (instead !== undefined && isReplacement(instead.value)) return instead.value
      const named = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
      return compose(schemas[named] ?? {}, named, '')
    }
    const own = told(owner, name, 'qualified')
    if (own !== undefined) return own.value
    const known = told(owner, name)
    if (known !== undefined && known.value === undefined) return undefined // left out, as this story goes
    if (schema.example !== undefined) return schema.example
    if (schema.allOf !== undefined) {
      // What only describes adds nothing to see.
      const parts = schema.allOf.filter((part) => part.$ref !== undefined || part.properties !== undefined)
      return Object.assign({}, ...parts.map((part) => compose(part, owner, name))) as unknown
    }
    if (schema.properties !== undefined) return fieldsOf(schema.properties, name === '' ? owner : name)
    if (schema.items !== undefined) return [compose(schema.items, owner, name)]
    if (known !== undefined && fits(known.value, schema)) return known.value
    const variants = schema.oneOf ?? schema.anyOf
    // Those of ours that differ in what they carry have the fullest last.
    if (variants !== undefined) return compose(variants.at(-1) ?? {}, owner, name)
    if (schema.default !== undefined) return schema.default
    if (schema.enum !== undefined) return schema.enum[0]
    const usual = FORMATS[schema.format ?? '']
    if (usual !== undefined) return usual
    throw new Error(`no example of ${owner}.${name}; tell it in src/docs/examples.ts`)
  }
  const fieldsOf = (properties: Schemas, owner: string): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(properties)
        .map(([name, schema]) => [name, compose(schema, owner, name)] as const)
        .filter(([, value]) => value !== undefined),
    )
  return compose
}

/** Whether a value stands for a whole schema that has a name: nothing at all, null, or an object. */
const isReplacement = (value: unknown): boolean => value === undefined || typeof value === 'object'

function told(owner: string, name: string, only?: 'qualified'): { readonly value: unknown } | undefined {
  const key = [`${owner}.${name}`, ...(only === undefined ? [name] : [])].find((one) => Object.hasOwn(STORY, one))
  return key === undefined ? undefined : { value: STORY[key] }
}

/** One name may stand for values of several kinds; only the kind that a schema means is an example of it. */
function fits(value: unknown, { type, enum: choices }: Schema): boolean {
  if (choices !== undefined) return choices.includes(value)
  if (type === undefined) return true
  const types = typeof type === 'string' ? [type] : type
  if (value === null) return types.includes('null')
  return types.includes(typeof value) || (typeof value === 'number' && types.includes('integer'))
}
