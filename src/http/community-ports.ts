/** What the routes of leaderboards and community ask of the rest of the house (specification 4.4). */
import type { Boards } from '../../db/boards.ts'
import type { Careers } from '../../db/careers.ts'
import type { Outbox } from '../../db/outbox.ts'
import type { Referrals } from '../../db/referrals.ts'
import type { BoardKeeper } from '../reactions/board-keeper.ts'

export interface CommunityPorts {
  readonly boards: Pick<Boards, 'top' | 'place' | 'standings' | 'districts'>
  readonly careers: Pick<Careers, 'find' | 'badges' | 'usernames'>
  readonly keeper: Pick<BoardKeeper, 'rebuild'>
  readonly referrals: Pick<Referrals, 'invite' | 'list' | 'find' | 'isReferred' | 'network'>
  readonly reactions: ReactionsPort
}

/** What operators see of the reactions to commits. */
export interface ReactionsPort extends Pick<Outbox, 'setAside' | 'lag'> {
  /** Reacts to a row that was set aside. False when there is none; throws what the reaction throws. */
  retry(...row: [matchId: Parameters<Outbox['retry']>[0], seq: number]): Promise<boolean>
}
