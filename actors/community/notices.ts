/** What users read about committed events: notifications to one user, headlines in the activity feed to all. */
import { present } from '../kernel/assert.ts'
import type { FixtureId, InstrumentId, PositionId, UserId } from '../kernel/ids.ts'
import { BIG_WIN } from '../kernel/limits.ts'
import { decimal, type Money, money } from '../kernel/micros.ts'
import type { Purse } from '../kernel/purse.ts'
import type { Instant } from '../kernel/world.ts'
import type { ClosedBy } from '../position/position.ts'
import type { Badge } from './badges.ts'
import {
  type ClosedEvent,
  type CommittedEvent,
  type CorrectedEvent,
  counted,
  type FillMovedEvent,
  type VoidedEvent,
} from './committed-event.ts'

export const NOTICE_TYPES = [
  'position_closed',
  'margin_warning',
  'settlement',
  'fill_moved',
  'badge',
  'level',
  'referral_credited',
  'spinner',
  'account',
  'league',
  'player_news',
  'price_reached',
] as const
export type NoticeType = (typeof NOTICE_TYPES)[number]

/** A notification to be written. */
export interface Notice {
  readonly userId: UserId
  readonly type: NoticeType
  readonly title: string
  readonly body: string
  readonly data: Readonly<Record<string, string | number>>
  /** Identifies the cause: a source that is processed twice is notified once. */
  readonly source: string
  readonly at: Instant
}

export const HEADLINE_TYPES = ['big_win', 'washout', 'badge', 'spinner_win', 'legacy_trade'] as const
export type HeadlineType = (typeof HEADLINE_TYPES)[number]

/** An entry of the activity feed to be written. */
export interface Headline {
  readonly userId: UserId
  readonly type: HeadlineType
  /** What the user did, shown after the username. */
  readonly text: string
  readonly data: Readonly<Record<string, string | number>>
  readonly source: string
  readonly at: Instant
}

/** The display name of a player. */
export type NameOf = (id: InstrumentId) => string

/** Why a position was closed if not by its owner, as shown to the owner. */
const CLOSED_BY: Readonly<Record<Exclude<ClosedBy, 'user' | 'full_time'>, string>> = {
  stop_loss: 'Stop-loss reached',
  take_profit: 'Target reached',
  washout: 'Washed out',
  void: 'Position void',
  admin: 'Closed by an operator',
}

/** With its sign and two decimals. */
const signed = (amount: Money): string => `${amount < 0 ? '−' : '+'}${Math.abs(decimal(amount)).toFixed(2)}`

/** The title of a notice about a position. What happens to the money of another purse than the main one says so. */
const titled = (purse: Purse, title: string): string => {
  if (purse === 'main') return title
  return `${purse === 'practice' ? 'Practice' : 'League'}: ${title}`
}

/** The notices of one commit. Settled positions are summed up in one notice per user and purse. */
export function noticesOf(
  commit: { key: string; matchId: FixtureId; at: Instant; events: readonly CommittedEvent[] },
  nameOf: NameOf,
  reasonOf: (id: PositionId) => string | null = () => null,
): Notice[] {
  const { key, matchId, at, events } = commit
  const notices: Notice[] = []
  const settled = new Map<string, ClosedEvent[]>()
  for (const event of events) {
    if (event.kind === 'margin_warned') {
      const { userId, purse, positionId, instrumentId, lostPct } = event
      notices.push({
        userId,
        type: 'margin_warning',
        title: titled(purse, `${lostPct} % of a margin lost`),
        body: `Your ${event.direction} on ${nameOf(instrumentId)} has lost ${lostPct} % of its margin.`,
        data: { purse, positionId, instrumentId, direction: event.direction, lostPct },
        source: `margin:${positionId}:${lostPct}`,
        at,
      })
    } else if (event.kind === 'voided' || (event.kind === 'closed' && event.voidReason === 'operator')) {
      notices.push(voidNotice(event, { reason: reasonOf(event.positionId), at }, nameOf))
    } else if (event.kind === 'corrected') {
      notices.push(...correctionNotice(event, { key, at }, nameOf))
    } else if (event.kind === 'fill_moved') {
      notices.push(moveNotice(event, { key, at }, nameOf))
    } else if (event.kind === 'closed' && event.by === 'full_time') {
      const wallet = `${event.purse} ${event.userId}`
      settled.set(wallet, [...(settled.get(wallet) ?? []), event])
    } else if (event.kind === 'closed' && event.by !== 'user' && event.by !== 'full_time') {
      const { userId, purse, positionId, instrumentId, direction, pnl, by } = event
      const on = `Your ${direction} on ${nameOf(instrumentId)}`
      notices.push({
        userId,
        type: 'position_closed',
        title: titled(purse, CLOSED_BY[by]),
        body: `${on} was closed: ${signed(pnl)}.`,
        data: {
          purse,
          positionId,
          instrumentId,
          direction,
          closedBy: by,
          pnl: decimal(pnl),
        },
        source: `closed:${positionId}`,
        at,
      })
    }
  }
  for (const closed of settled.values()) {
    const { userId, purse } = present(closed[0], 'a settled position')
    const total = closed.reduce((sum, { pnl }) => sum + pnl, 0)
    const positions = closed.length === 1 ? 'One position was' : `${closed.length} positions were`
    notices.push({
      userId,
      type: 'settlement',
      title: titled(purse, 'Full time'),
      body: `${positions} settled: ${signed(money(total))}.`,
      data: { purse, matchId, positions: closed.length, pnl: decimal(total) },
      source: `settled:${key}:${userId}:${purse}`,
      at,
    })
  }
  return notices
}

/** An operator has voided a position. */
function voidNotice(
  event: VoidedEvent | ClosedEvent,
  { reason, at }: { readonly reason: string | null; readonly at: Instant },
  nameOf: NameOf,
): Notice {
  const { userId, purse, positionId, instrumentId, direction } = event
  const before = event.kind === 'voided' ? event.before.pnl : money(0)
  const booked =
    before > 0
      ? `Its profit of ${signed(before)} is taken back.`
      : before < 0
        ? `Its loss of ${signed(before)} is given back.`
        : 'Its margin is given back.'
  const why = reason === null ? '' : ` Reason: ${reason}`
  return {
    userId,
    type: 'position_closed',
    title: titled(purse, 'Position void'),
    body: `An operator has voided your ${direction} on ${nameOf(instrumentId)}. ${booked} It counts nowhere.${why}`,
    data: {
      purse,
      positionId,
      instrumentId,
      direction,
      closedBy: 'void',
      pnl: 0,
      taken: decimal(money(-before)),
      ...(reason === null ? {} : { reason }),
    },
    source: `void:${positionId}`,
    at,
  }
}

/** News has moved the open price of a position. */
function moveNotice(event: FillMovedEvent, of: { key: string; at: Instant }, nameOf: NameOf): Notice {
  const { userId, positionId, instrumentId, direction, from, to } = event
  const [was, is] = [decimal(from).toFixed(2), decimal(to).toFixed(2)]
  return {
    userId,
    type: 'fill_moved',
    title: 'Open price moved by news',
    body: `News of ${nameOf(instrumentId)} came just after you opened your ${direction}. Your open price is the one after it: ${was} → ${is}.`,
    data: { positionId, instrumentId, direction, from: decimal(from), to: decimal(to) },
    source: `moved:${of.key}:${positionId}`,
    at: of.at,
  }
}

/** None where only the base moved, and nothing was booked. */
function correctionNotice(event: CorrectedEvent, of: { key: string; at: Instant }, nameOf: NameOf): Notice[] {
  const { userId, positionId, instrumentId, direction, before, pnl } = event
  const amount = money(pnl - before.pnl)
  if (amount === 0) return []
  const what = `News of ${nameOf(instrumentId)} came just after your ${direction} closed. It is booked at the price after it:`
  return [
    {
      userId,
      type: 'fill_moved',
      title: 'Close moved by news',
      body: `${what} ${signed(amount)}, which makes ${signed(pnl)} in all.`,
      data: { positionId, instrumentId, direction, amount: decimal(amount), pnl: decimal(pnl) },
      source: `moved:${of.key}:${positionId}`,
      at: of.at,
    },
  ]
}

/** The headlines of one commit: big wins and washouts. */
export function headlinesOf(events: readonly CommittedEvent[], at: Instant, nameOf: NameOf): Headline[] {
  return events.flatMap((committed): Headline[] => {
    const event = counted(committed)
    if (event?.kind !== 'closed') return []
    const { userId, positionId, instrumentId, direction, pnl } = event
    const data = { positionId, instrumentId, direction, pnl: decimal(pnl) }
    const player = nameOf(instrumentId)
    const source = `closed:${positionId}`
    if (event.by === 'washout') {
      return [{ userId, type: 'washout', text: `was washed out ${direction} on ${player}`, data, source, at }]
    }
    if (pnl < BIG_WIN) return []
    const text = `won ${decimal(pnl).toFixed(2)} ${direction} on ${player}`
    return [{ userId, type: 'big_win', text, data, source, at }]
  })
}

export const badgeNotice = (userId: UserId, badge: Badge, at: Instant): Notice => ({
  userId,
  type: 'badge',
  title: badge.name,
  body: `You have earned a badge: ${badge.description}.`,
  data: { badgeId: badge.id },
  source: `badge:${userId}:${badge.id}`,
  at,
})

export const badgeHeadline = (userId: UserId, badge: Badge, at: Instant): Headline => ({
  userId,
  type: 'badge',
  text: `earned the badge ${badge.name}`,
  data: { badgeId: badge.id },
  source: `badge:${userId}:${badge.id}`,
  at,
})

export const levelNotice = (userId: UserId, level: number, at: Instant): Notice => ({
  userId,
  type: 'level',
  title: `Level ${level}`,
  body: `You have reached level ${level}.`,
  data: { level },
  source: `level:${userId}:${level}`,
  at,
})

/** A referred user has traded enough for their referrer to be credited. */
export interface Credit {
  readonly referrerId: UserId
  readonly refereeId: UserId
  readonly refereeName: string
  readonly reward: Money
}

export const creditNotice = ({ referrerId, refereeId, refereeName, reward }: Credit, at: Instant): Notice => ({
  userId: referrerId,
  type: 'referral_credited',
  title: 'Referral credited',
  body: `${refereeName} has started trading: ${signed(reward)}.`,
  data: { refereeId, refereeName, reward: decimal(reward) },
  source: `referral:${refereeId}`,
  at,
})

/** The notices to all candidates of a week's draw. */
export const spinnerNotices = (
  week: string,
  candidates: readonly UserId[],
  winner: UserId,
  at: Instant,
): readonly Notice[] =>
  candidates.map((userId) => ({
    userId,
    type: 'spinner',
    title: userId === winner ? `You have won week ${week}` : `Week ${week} is decided`,
    body:
      userId === winner
        ? 'Yours was the best return on investment of the week.'
        : 'You shared the lead, and the draw chose another user.',
    data: { week, winnerId: winner },
    source: `spinner:${week}:${userId}`,
    at,
  }))

export const spinnerHeadline = (week: string, winner: UserId, at: Instant): Headline => ({
  userId: winner,
  type: 'spinner_win',
  text: `won week ${week}`,
  data: { week },
  source: `spinner:${week}`,
  at,
})
