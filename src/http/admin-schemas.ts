/** What the admin endpoints answer; the control room has the same types. */
import { z } from '@hono/zod-openapi'
import { SETTINGS, FLAGS } from '../../actors/kernel/settings.ts'
import type { FeedFaultReason } from '../../rooms/sources/provider.ts'
import { KeyBody, LedgerEntryBody, SessionBody } from './account-schemas.ts'
import { nextCursor } from './cursors.ts'
import { RecordedTeam } from './recording-schema.ts'
import {
  districtNumber,
  instrumentIdText,
  PositionBody,
  priceNumber,
  timestampText,
  userIdText,
  usernameText,
  WalletBody,
} from './schemas.ts'

export const DEFAULT_TRADERS = 20

export const replayId = z.uuid().openapi({ example: '0197f2a0-8b1d-7c2e-9f3a-4b5c6d7e8f90' })

export const ReplayBody = z
  .object({
    id: replayId,
    fixtureId: z.string().openapi({
      description: 'The recording that is played; `tournament` for the match of one.',
      example: 'goal-feast',
    }),
    matchId: z.int().openapi({ description: 'The match it plays into, above 4,000,000,000.', example: 4_000_000_017 }),
    minute: z.int().nullable().openapi({ example: 63 }),
    progress: z.number().nullable().openapi({
      description: 'Share of the recording played, 0 to 1; null if it no longer exists, and for a tournament.',
      example: 0.64,
    }),
    speed: z.number().openapi({ description: '1 is real time.', example: 10 }),
    traders: z.int().openapi({ description: 'Simulated traders.', example: DEFAULT_TRADERS }),
    state: z.enum(['playing', 'stopping']),
    demo: z.boolean().openapi({
      description: 'True for the demo match, which is always on; false if an operator started it.',
      example: false,
    }),
    lossless: z.boolean().openapi({ description: 'Whether it plays every frame, late if need be.', example: false }),
    practice: z.boolean().openapi({
      description: 'Whether it is traded with practice money; otherwise it pays the main purse.',
      example: false,
    }),
    startedAt: timestampText,
  })
  .openapi('Replay')

export const FixtureBody = z.object({
  id: z.string().openapi({ example: 'goal-feast' }),
  name: z.string().openapi({ example: 'Harbour vs Hill' }),
  title: z.string().openapi({ example: 'A goal feast' }),
  minutes: z.int().openapi({ example: 95 }),
  players: z.int().openapi({ example: 44 }),
})

export const RecordingBody = z
  .object({
    matchId: z.int().openapi({ example: 19_155_071 }),
    name: z.string().openapi({ example: 'Harbour vs Hill' }),
    startsAt: timestampText,
    home: RecordedTeam,
    away: RecordedTeam,
    replay: z.boolean().openapi({ description: 'True if the match itself replayed a recording.', example: false }),
    events: z.int().openapi({ description: 'Reported in-game events.', example: 31 }),
    commits: z.int().openapi({ description: 'Commits that heard anything, about one an update.', example: 612 }),
    bytes: z.int().openapi({ description: 'Size of the journal.', example: 53_214 }),
  })
  .openapi('Recording')

/** Who last changed a flag or setting. */
const updated = {
  updatedAt: timestampText.nullable().openapi({ description: 'Null if it has its default.' }),
  updatedBy: z.string().nullable().openapi({ description: 'The username of the admin who set it.', example: 'ann' }),
}

export const FlagBody = z
  .object({
    key: z.string().openapi({ example: 'coming_soon' }),
    enabled: z.boolean().openapi({ example: true }),
    default: z.boolean().openapi({ example: false }),
    description: z.string().openapi({ example: FLAGS.coming_soon.description }),
    ...updated,
  })
  .openapi('Flag')

const EXAMPLE = SETTINGS['trading.hold_secs']
export const settingValue = z.union([z.number(), z.boolean(), z.string()]).openapi({ example: EXAMPLE.default })

export const SettingBody = z
  .object({
    key: z.string().openapi({ example: 'trading.hold_secs' }),
    value: settingValue,
    type: z.enum(['number', 'boolean', 'choice']),
    default: settingValue,
    description: z.string().openapi({ example: EXAMPLE.description }),
    min: z.number().optional().openapi({ description: 'Of a number.', example: EXAMPLE.min }),
    max: z.number().optional().openapi({ description: 'Of a number.', example: EXAMPLE.max }),
    decimals: z.int().optional().openapi({ description: 'Of a number: the most decimals it may have.', example: 0 }),
    options: z.array(z.string()).optional().openapi({ description: 'Of a choice.' }),
    ...updated,
  })
  .openapi('Setting')

const movePct = z.number().openapi({ description: 'Per cent of the price now.', example: 1.25 })

export const MatchEffectBody = z
  .object({
    matchId: z.int().openapi({ description: 'Its fixture id.', example: 19_135_003 }),
    known: z.boolean().openapi({
      example: true,
      description:
        'False if the match cannot say: its process does not answer, or has had no update since it took the match over.',
    }),
    closes: z.int().openapi({ description: 'Positions that the moves would close.', example: 3 }),
    moves: z.array(
      z.object({
        instrumentId: instrumentIdText,
        name: z.string().openapi({ example: 'A. Striker' }),
        from: priceNumber,
        to: priceNumber,
        movePct,
      }),
    ),
  })
  .openapi('RuleEffect')

export const DryRunBody = z
  .object({
    key: z.string().openapi({ example: 'scoring.base.goal' }),
    dryRun: z.literal(true),
    maxMovePct: movePct,
    closes: z.int().openapi({ example: 3 }),
    needsForce: z
      .boolean()
      .openapi({ example: false, description: 'Whether the change is refused without `force: true`.' }),
    matches: z.array(MatchEffectBody).openapi({ description: 'The running matches that it would change.' }),
  })
  .openapi('SettingDryRun')

export const userStatus = z.enum(['active', 'frozen']).openapi({ example: 'active' })

export const ListedUserBody = z
  .object({
    userId: userIdText,
    username: usernameText,
    email: z.string().openapi({ example: 'ada@touchline.example' }),
    name: z.string().openapi({ example: 'Ada Lovell' }),
    firstName: z.string().openapi({ example: 'Ada' }),
    lastName: z.string().nullable().openapi({ example: 'Lovell' }),
    role: z.string().openapi({ example: 'user' }),
    districtId: districtNumber,
    xp: z.int().openapi({ example: 340 }),
    balance: z.number().nullable().openapi({ description: 'Units as booked; null without a wallet.', example: 9_950 }),
    referralCode: z.string().openapi({ example: '5d0f9a3c71' }),
    synthetic: z.boolean().openapi({
      description: 'True if a dev route or a replay created the user.',
      example: false,
    }),
    status: userStatus,
    createdAt: timestampText,
  })
  .openapi('ListedUser')

/** Rows of each list, the newest. */
export const NEWEST = 50
export const LEAGUES_SHOWN = 10

const PurseBody = z
  .object({
    wallet: WalletBody,
    league: z.string().nullable().openapi({ description: 'Its name; null unless it is of a league.', example: null }),
    positions: z.array(PositionBody).openapi({ description: `Open and closed, the ${NEWEST} opened last.` }),
    ledger: z.array(LedgerEntryBody).openapi({ description: `The last ${NEWEST} entries.` }),
  })
  .openapi('UserPurse')

const ConnectionBody = z
  .object({
    kind: z.enum(['same_network', 'invited_by', 'invited']).openapi({ example: 'same_network' }),
    userId: userIdText,
    username: usernameText,
  })
  .openapi('UserConnection')

const UserAlertBody = z
  .object({
    id: z.int().openapi({ description: 'Of the entry in the audit log.', example: 4_812 }),
    at: timestampText,
    finding: z.string().openapi({ example: 'lockstep' }),
  })
  .openapi('UserAlert')

const DeedBody = z
  .object({
    id: z.int().openapi({ description: 'Of the entry in the audit log.', example: 4_813 }),
    at: timestampText,
    action: z.string().openapi({ example: 'user.note' }),
    by: usernameText.nullable(),
    text: z.string().nullable().openapi({ description: 'The reason or the note.', example: 'asked for a refund' }),
  })
  .openapi('UserDeed')

export const UserFileBody = z
  .object({
    user: ListedUserBody,
    hiddenFromBoards: z.boolean().openapi({ description: 'By their own wish.', example: false }),
    deletionDue: timestampText.nullable().openapi({ description: 'When the account is erased; null for never.' }),
    purses: z.array(PurseBody).openapi({
      description: `Main, practice, and of the ${LEAGUES_SHOWN} leagues that end last.`,
    }),
    sessions: z.array(SessionBody).openapi({ description: 'Active ones, at most 100.' }),
    keys: z.array(KeyBody),
    connections: z.array(ConnectionBody).openapi({
      description:
        `At most ${NEWEST} of each kind. \`same_network\`: a stored session from the same /24 or /48, which many ` +
        'strangers may share.',
    }),
    alerts: z.array(UserAlertBody).openapi({
      description: 'The latest alerts about cheats that name the user, among the last 1,000 of all.',
    }),
    deeds: z.array(DeedBody).openapi({ description: `What was done about the user, the last ${NEWEST}.` }),
  })
  .openapi('UserFile')

export const AdminKeyBody = z
  .object({ ...KeyBody.shape, userId: userIdText, username: usernameText })
  .openapi('AdminKey')

export const LedgerAuditBody = z
  .object({
    balanced: z.boolean().openapi({ description: 'True if the checks below found nothing.', example: true }),
    wallets: z.int().openapi({ description: 'Wallets checked.', example: 12_930 }),
    imbalance: z.number().openapi({
      description: 'Σ of all entries of all accounts in units. Anything but 0 means that money appeared or vanished.',
      example: 0,
    }),
    purses: z
      .array(
        z.object({
          purse: z.enum(['main', 'practice', 'leagues']).openapi({ example: 'main' }),
          wallets: z.int().openapi({ example: 6_465 }),
          imbalance: z.number().openapi({ description: 'Σ of the entries of this purse in units.', example: 0 }),
        }),
      )
      .openapi({
        description: 'Each purse by itself, those of leagues in one sum. No money passes from one to another.',
      }),
    unbalancedTransactions: z.int().openapi({
      description: 'Transactions whose entries do not add up to 0 in each purse.',
      example: 0,
    }),
    mismatchedWallets: z.int().openapi({
      description: 'Wallets whose balance is not the sum of their entries.',
      example: 0,
    }),
  })
  .openapi('LedgerAudit')

export const AuditEntryBody = z
  .object({
    id: z.int().openapi({ example: 88 }),
    at: timestampText,
    actor: z
      .object({
        userId: z.string().openapi({ example: '0197f2a0-1c2d-7d3e-8f40-5a6b7c8d9e0f' }),
        username: usernameText.nullable(),
      })
      .nullable()
      .openapi({ description: 'The admin who acted; null if the server itself did.' }),
    action: z.string().openapi({ example: 'setting.set' }),
    subject: z.string().openapi({ example: 'trading.hold_secs' }),
    subjectName: z
      .string()
      .nullable()
      .openapi({ description: 'The name of the user, league, player or match in `subject`.', example: null }),
    before: z.unknown().openapi({ example: 180 }),
    after: z.unknown().openapi({ example: 60 }),
    reason: z
      .string()
      .nullable()
      .openapi({ description: 'Why, as the operator wrote.', example: 'too many complaints' }),
    outcome: z.string().openapi({ description: '`ok`, or the code of the refusal.', example: 'ok' }),
  })
  .openapi('AuditEntry')

const SetAsideBody = z
  .object({
    matchId: z.int().openapi({ example: 19_155_071 }),
    seq: z.int().openapi({ description: 'Number of the commit in its match.', example: 4_711 }),
    error: z.string().openapi({ example: 'deadlock detected' }),
    attempts: z.int().openapi({ example: 5 }),
    at: timestampText,
  })
  .openapi('SetAside')

export const ReactionsBody = z
  .object({
    waiting: z.int().openapi({ description: 'Commits without a reaction yet.', example: 0 }),
    oldestAt: timestampText.nullable().openapi({ description: 'Time of the oldest of them, or null.' }),
    setAside: z.array(SetAsideBody).openapi({ description: 'Failed permanently; newest first.' }),
    nextCursor,
  })
  .openapi('Reactions')

const matchId = z.int().openapi({ example: 19_155_071 })

const REASONS = [
  'request',
  'quota',
  'unreadable',
  'calendar',
  'update',
  'field',
] as const satisfies readonly FeedFaultReason[]

export const FeedFaultBody = z
  .object({
    reason: z.enum(REASONS).openapi({
      description:
        '`request`: the provider answered with an error, or not at all. `quota`: its quota is spent. `unreadable`: a ' +
        'fixture could not be read. `calendar`: a fixture could not be stored. `update`: a match could not take its ' +
        'update. `field`: fields or rows held impossible values and were ignored.',
      example: 'unreadable',
    }),
    matchId: matchId.nullable().openapi({ description: 'The fixture that was skipped; null if it concerns none.' }),
    detail: z.string().openapi({
      description: 'The last one, in plain words.',
      example: 'fixture 5 does not name a home and an away team',
    }),
    times: z.int().openapi({ example: 12 }),
    firstAt: timestampText,
    lastAt: timestampText,
  })
  .openapi('FeedFault')

export const QuarantinedMatchBody = z
  .object({
    matchId,
    name: z.string().openapi({ example: 'Harbour – Mill' }),
    reason: z.string().openapi({ example: 'match 19155071: info.home is missing, not an object' }),
    since: timestampText,
    positions: z.int().openapi({ description: 'Open positions.', example: 41 }),
    margin: z.number().openapi({ description: 'The sum of their margins.', example: 4_120.5 }),
  })
  .openapi('QuarantinedMatch')

export const FedMatchBody = z
  .object({
    matchId,
    name: z.string().openapi({ example: 'Harbour – Mill' }),
    phase: z.string().openapi({ example: 'in_play' }),
    startsAt: timestampText,
    updatedAt: timestampText.nullable().openapi({
      description: 'The newest update that the match took; null before the first.',
    }),
  })
  .openapi('FedMatch')
