/** What follows from trades: careers, leaderboards, notifications; and the reactor that applies them. */
import { microsNearest, type Money, money } from '../../actors/kernel/micros.ts'
import { type CommonPurse, PURSES } from '../../actors/kernel/purse.ts'
import { type Boards } from '../../db/boards.ts'
import { BoardsMemory } from '../../db/boards-memory.ts'
import { Careers } from '../../db/careers.ts'
import { installationOf } from '../../db/installation.ts'
import { Outbox, type Reaction } from '../../db/outbox.ts'
import type { Notification } from '../../db/announcements.ts'
import type { RealTime } from '../../rooms/boot.ts'
import { notificationJson } from '../http/json.ts'
import { BoardKeeper } from '../reactions/board-keeper.ts'
import { creditWaiting, reactionUnder } from '../reactions/react.ts'
import { referralTermsOf } from '../reactions/referral-terms.ts'
import { Reactor } from '../reactions/reactor.ts'
import type { Base } from './base.ts'
import type { Market } from './market.ts'
import type { Stores } from './stores.ts'

export interface Community {
  readonly boards: Readonly<Record<CommonPurse, Boards>>
  readonly careers: Careers
  readonly keeper: BoardKeeper
  readonly outbox: Outbox
  readonly reaction: Reaction
  readonly notify: (notifications: readonly Notification[]) => void
  /** Credits referrals that had to wait. */
  readonly creditReferrals: () => Promise<void>
  /** What decides places on the boards. Read each time, so that a changed setting takes effect. */
  readonly boardRules: () => { readonly roiFloor: Money; readonly ranksBots: boolean }
}

interface CommunityParts {
  readonly stores: Stores
  readonly market: Market
  readonly realTime: RealTime
}

export async function openCommunity(base: Base, { stores, market, realTime }: CommunityParts): Promise<Community> {
  const { world, log, report, lifecycle } = base
  const boards = await openBoards(base, stores)
  for (const purse of PURSES)
    lifecycle.add({ name: `boards:${purse}`, kind: 'store', stop: () => boards[purse].close() })
  const roiFloor = (): Money => money(microsNearest(market.settings.value('boards.roi_floor')))
  const ranksBots = (): boolean => market.settings.value('boards.bots')
  const boardRules = () => ({ roiFloor: roiFloor(), ranksBots: ranksBots() })
  const careers = new Careers(stores.db, roiFloor, ranksBots)
  const keeper = new BoardKeeper({ boards, careers, roiFloor, ranksBots })
  const terms = () => referralTermsOf(market.settings)
  const reaction = reactionUnder(terms)
  const outbox = new Outbox(stores.db, stores.walletCache, world)
  const notify = (notifications: readonly Notification[]): void => {
    for (const notification of notifications) {
      const notice = { type: 'notification', notification: notificationJson(notification) }
      realTime.notify(notification.userId, notice)
    }
  }
  const reactor = new Reactor({ outbox, reaction, tell: notify, report, isSettling: realTime.isSettling })
  lifecycle.add({
    name: 'reactor',
    kind: 'worker',
    start: async () => {
      // Boards that cannot be shown yet, since another process is building them or has died building them, stop no
      // trade.
      await keeper.show().catch((error: unknown) => log.warn('boards_not_ready', { error }))
      reactor.start()
    },
    stop: () => reactor.stop(),
  })
  const creditReferrals = async (): Promise<void> =>
    notify(await outbox.later((effects) => creditWaiting(effects, world.now(), terms())))
  return { boards, careers, keeper, outbox, reaction, notify, creditReferrals, boardRules }
}

async function openBoards({ config, world }: Base, { db }: Stores): Promise<Community['boards']> {
  if (config.redisUrl === null) return { main: new BoardsMemory(), practice: new BoardsMemory() }
  const { connectBoards } = await import('../../db/boards-redis.ts')
  const url = config.redisUrl.reveal()
  const options = { url, installation: await installationOf(db), newId: () => world.newId() }
  const [main, practice] = await Promise.all([
    connectBoards({ ...options, purse: 'main' }),
    connectBoards({ ...options, purse: 'practice' }),
  ])
  return { main, practice }
}
