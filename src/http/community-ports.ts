/** The ports of leaderboards, activity and badges (specification 4.4). */
import type { CommonPurse } from '../../actors/kernel/purse.ts'
import type { ActivityFeed } from '../../db/activity.ts'
import type { Boards } from '../../db/boards.ts'
import type { Careers } from '../../db/careers.ts'
import type { Outbox } from '../../db/outbox.ts'
import type { Referrals } from '../../db/referrals.ts'
import type { BoardKeeper } from '../reactions/board-keeper.ts'

export interface CommunityPorts {
  readonly boards: Readonly<Record<CommonPurse, Pick<Boards, 'top' | 'place' | 'standings' | 'districts'>>>
  readonly careers: Pick<Careers, 'find' | 'achievements' | 'names'>
  readonly keeper: Pick<BoardKeeper, 'rebuild'>
  readonly referrals: Pick<Referrals, 'find' | 'network'>
  readonly activity: Pick<ActivityFeed, 'list'>
  readonly reactions: ReactionsPort
}

/** How operators watch the reactions to commits. */
export interface ReactionsPort extends Pick<Outbox, 'setAside' | 'lag'> {
  /** Runs the reaction to a row that was set aside. False if there is no such row; throws what the reaction throws. */
  retry(...row: [matchId: Parameters<Outbox['retry']>[0], seq: number]): Promise<boolean>
}
