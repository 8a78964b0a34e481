/** What features add to the API, over ports with fixed values. */
import type { Instant } from '../../actors/kernel/world.ts'
import type { User } from '../../db/users.ts'
import type { Position } from '../../actors/position/position.ts'
import type { Host } from '../../src/features/feature.ts'
import { FEATURES } from '../../src/features/index.ts'
import { leagueApi, leagues } from '../../src/features/leagues/index.ts'
import { legacy, legacyApi } from '../../src/features/legacy/index.ts'
import type { LegacyPorts } from '../../src/features/legacy/trades-routes.ts'
import { notificationApi, notifications } from '../../src/features/notifications/index.ts'
import type { NotificationPorts } from '../../src/features/notifications/list-routes.ts'
import { referralApi, referrals } from '../../src/features/referrals/index.ts'
import type { ReferralPorts } from '../../src/features/referrals/schema.ts'
import { spinner, spinnerApi } from '../../src/features/spinner/index.ts'
import type { SpinnerPorts } from '../../src/features/spinner/week.ts'
import { matchBoard, matchBoardApi } from '../../src/features/match-board/index.ts'
import type { MatchBoardPorts } from '../../src/features/match-board/routes.ts'
import { playerProfile, profileApi } from '../../src/features/player-profile/index.ts'
import type { ProfilePorts } from '../../src/features/player-profile/routes.ts'
import { recapApi, recaps } from '../../src/features/recaps/index.ts'
import type { RecapPorts } from '../../src/features/recaps/routes.ts'
import { seasonApi, seasons } from '../../src/features/seasons/index.ts'
import type { SeasonPorts } from '../../src/features/seasons/routes.ts'
import { integrity, integrityApi } from '../../src/features/integrity/index.ts'
import type { IntegrityPorts } from '../../src/features/integrity/risk-routes.ts'
import { push, pushApi } from '../../src/features/push/index.ts'
import type { PushPorts } from '../../src/features/push/routes.ts'
import { tape, tapeApi } from '../../src/features/tape/index.ts'
import type { TapePorts } from '../../src/features/tape/tape-routes.ts'
import { tournamentApi, tournaments } from '../../src/features/tournaments/index.ts'
import type { TournamentPorts } from '../../src/features/tournaments/routes.ts'
import { uploadApi, uploads } from '../../src/features/uploads/index.ts'
import type { UploadPorts } from '../../src/features/uploads/routes.ts'
import { watchlist, watchlistApi } from '../../src/features/watchlist/index.ts'
import type { WatchlistPorts } from '../../src/features/watchlist/routes.ts'
import { webhookApi, webhooks } from '../../src/features/webhooks/index.ts'
import type { WebhookPorts } from '../../src/features/webhooks/routes.ts'
import { whatIf, whatIfApi } from '../../src/features/what-if/index.ts'
import type { WhatIfPorts } from '../../src/features/what-if/routes.ts'
import type { ApiPart } from '../../src/http/api-part.ts'
import { adminPorts } from './admin-ports.ts'
import { matchBoardPort } from './match-board-port.ts'
import { profilePort } from './profile-port.ts'
import { pushPort } from './push-port.ts'
import { watchlistPort } from './watchlist-port.ts'
import { communityPorts } from './community-ports.ts'
import { contestPorts, leaguesPort, tournamentsPort, unnamedPurses } from './league-ports.ts'

export interface FeaturePorts
  extends
    RecapPorts,
    ProfilePorts,
    MatchBoardPorts,
    WatchlistPorts,
    Pick<SeasonPorts, 'seasons'>,
    NotificationPorts,
    ReferralPorts,
    LegacyPorts,
    SpinnerPorts,
    WebhookPorts,
    PushPorts,
    WhatIfPorts,
    IntegrityPorts,
    UploadPorts,
    TapePorts,
    TournamentPorts {
  readonly leagues: Parameters<typeof leagueApi>[0]
}

const CHECKPOINT = { n: 1, hash: 'b1946ac9', kid: 'k1', signature: 'c2lnbmVk' }

export const featurePorts = (user: User, position: Position, now: Instant): FeaturePorts => ({
  leagues: leaguesPort(user.id, position.fixtureId, now),
  ...contestPorts(position, now),
  tournaments: tournamentsPort(now),
  ...communityPorts(user, now),
  ...adminPorts(user),
  tapes: {
    last: async (id) =>
      id === position.fixtureId ? { ...CHECKPOINT, matchId: position.fixtureId, at: now, isEnd: true } : null,
    async *lines() {
      yield `{"n":1,"prev":"","kind":"match","hash":""}\n`
    },
    checkpoints: async (id) =>
      id === position.fixtureId ? [{ ...CHECKPOINT, matchId: position.fixtureId, at: now }] : [],
    keys: async () => [{ kid: 'k1', publicKey: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', since: now }],
    proofOf: async (owner, id) =>
      id === position.id ? { matchId: position.fixtureId, positionId: id, userId: owner, n: 3, salt: 'cafe' } : null,
  },
  isRecordingOpen: async () => true,
  push: pushPort(),
  matchBoards: matchBoardPort(user.id, now),
  watchlists: watchlistPort(position.instrumentId, now),
  profiles: profilePort(position, now),
})

const fixedParts = (ports: FeaturePorts) => [
  { ...leagues, ...leagueApi(ports.leagues, unnamedPurses) },
  { ...seasons, ...seasonApi(ports) },
  { ...tournaments, ...tournamentApi(ports) },
  { ...recaps, ...recapApi(ports) },
  { ...matchBoard, ...matchBoardApi(ports) },
  { ...playerProfile, ...profileApi(ports) },
  { ...spinner, ...spinnerApi(ports) },
  { ...notifications, ...notificationApi(ports) },
  { ...watchlist, ...watchlistApi(ports) },
  { ...referrals, ...referralApi(ports) },
  { ...legacy, ...legacyApi(ports) },
  { ...webhooks, ...webhookApi(ports) },
  { ...push, ...pushApi(ports) },
  { ...whatIf, ...whatIfApi(ports) },
  { ...uploads, ...uploadApi(ports) },
  { ...integrity, ...integrityApi(ports) },
  { ...tape, ...tapeApi(ports) },
]

/** Stands for whatever it is used as: what it has, and what it returns, is the same again. */
const anything: unknown = new Proxy(() => undefined, {
  get: (_, key) => (key === 'then' ? undefined : anything),
  apply: () => anything,
})

const FIXED: ReadonlySet<string> = new Set(fixedParts(anything as FeaturePorts).map(({ name }) => name))

/** Features without fixed values are over nothing: they are described, and answer nothing. */
const described = await Promise.all(
  FEATURES.filter((feature) => !FIXED.has(feature.name)).map(async (feature) => ({
    ...feature,
    ...(await feature.open(anything as Host)),
  })),
)

export function featureParts(ports: FeaturePorts): readonly ApiPart[] {
  const parts = new Map([...fixedParts(ports), ...described].map((part) => [part.name, part]))
  return FEATURES.flatMap(({ name }) => parts.get(name) ?? [])
}
