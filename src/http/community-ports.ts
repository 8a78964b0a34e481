/** The ports of leaderboards, spinner, notifications, referrals and badges (specification 4.4). */
import type { CommonPurse } from '../../actors/kernel/purse.ts'
import type { ActivityFeed } from '../../db/activity.ts'
import type { Boards } from '../../db/boards.ts'
import type { Careers } from '../../db/careers.ts'
import type { Notification } from '../../db/announcements.ts'
import type { Inbox } from '../../db/inbox.ts'
import type { Legacy } from '../../db/legacy.ts'
import type { Outbox } from '../../db/outbox.ts'
import type { Referrals } from '../../db/referrals.ts'
import type { Spinner } from '../../db/spinner.ts'
import type { BoardKeeper } from '../reactions/board-keeper.ts'

export interface CommunityPorts {
  readonly boards: Readonly<Record<CommonPurse, Pick<Boards, 'top' | 'place' | 'standings' | 'districts'>>>
  readonly careers: Pick<Careers, 'find' | 'badges' | 'names'>
  readonly keeper: Pick<BoardKeeper, 'rebuild'>
  readonly referrals: Pick<Referrals, 'invite' | 'list' | 'find' | 'isReferred' | 'network'>
  readonly inbox: Pick<Inbox, 'list' | 'unreadCount' | 'read' | 'readAll'>
  readonly activity: Pick<ActivityFeed, 'list'>
  readonly spinner: Pick<Spinner, 'current' | 'previous' | 'history' | 'run'>
  readonly legacy: Pick<Legacy, 'trades' | 'history'>
  /** The link under which a code is shared. */
  readonly shareUrl: (code: string) => string
  /** Pushes notifications to those of their users who are connected. Must not throw. */
  readonly tell: (notifications: readonly Notification[]) => void
  readonly reactions: ReactionsPort
}

/** How operators watch the reactions to commits. */
export interface ReactionsPort extends Pick<Outbox, 'setAside' | 'lag'> {
  /** Runs the reaction to a row that was set aside. False if there is no such row; throws what the reaction throws. */
  retry(...row: [matchId: Parameters<Outbox['retry']>[0], seq: number]): Promise<boolean>
}
