/** The ports of the control room: what admins see and set. */
import type { Anchors } from '../../db/anchors.ts'
import type { ConsideredSetting, RuleEffect } from '../../actors/match/rule-change.ts'
import type { AuditLog } from '../../db/audit-log.ts'
import type { FeedFaults } from '../../db/feed-faults.ts'
import type { PurseFiles } from '../../db/purse-files.ts'
import type { Quarantine } from '../../db/quarantine.ts'
import type { Recordings } from '../../db/recordings.ts'
import type { Settings } from '../../db/settings.ts'
import type { UserConnections } from '../../db/user-connections.ts'
import type { UserList } from '../../db/user-list.ts'
import type { FeedFaultReason } from '../../rooms/sources/provider.ts'
import type { GameplayBot } from '../replays/gameplay-bot.ts'
import type { EventFeed } from './event-feed.ts'

export interface AdminPorts {
  readonly settings: Pick<Settings, 'list' | 'listFlags' | 'preview' | 'draft' | 'set' | 'setFlag' | 'removeFlag'> & {
    value(key: 'rules.max_move_pct'): number
  }
  /** What a valid setting would do to the running matches. One that cannot be reached is not `known`. */
  readonly effectsOf: (setting: ConsideredSetting) => Promise<readonly RuleEffect[]>
  readonly audit: Pick<AuditLog, 'record' | 'list'>
  readonly userList: Pick<UserList, 'find' | 'search' | 'setRole' | 'setStatus' | 'pages'>
  readonly purseFiles: Pick<PurseFiles, 'find'>
  readonly anchors: Pick<Anchors, 'set'>
  readonly connections: Pick<UserConnections, 'of' | 'alerts' | 'deeds'>
  readonly faults: Pick<FeedFaults<FeedFaultReason>, 'recent' | 'matches'>
  readonly quarantine: Pick<Quarantine, 'matches' | 'openPositions'>
  readonly recordings: Pick<Recordings, 'list' | 'find' | 'lines' | 'chart'>
  readonly events: Pick<EventFeed, 'isAhead' | 'lines'>
  readonly bot: Pick<GameplayBot, 'mainPurseIsLive' | 'fixtures' | 'start' | 'status' | 'stop'>
}
