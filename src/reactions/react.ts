/** Reactions to commits: careers, weeks, badges, levels, referral credits, notifications and activity. */
import { present } from '../../actors/kernel/assert.ts'
import type { PositionId, UserId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import type { Instant } from '../../actors/kernel/world.ts'
import { earnedBadges } from '../../actors/community/badges.ts'
import {
  advance,
  advanceCloseDays,
  advanceDays,
  correctedBy,
  type Career,
  dayOf,
  levelOf,
  mayHoldRecord,
  NEW_CAREER,
  takenBack,
  withRecords,
} from '../../actors/community/career.ts'
import {
  type ClosedEvent,
  type CommittedEvent,
  counted,
  isCountedClose,
  type VoidedEvent,
} from '../../actors/community/committed-event.ts'
import {
  badgeHeadline,
  badgeNotice,
  type Credit,
  creditNotice,
  headlinesOf,
  levelNotice,
  noticesOf,
} from '../../actors/community/notices.ts'
import { DEFAULT_REFERRAL_TERMS, isEarned, type ReferralTerms } from '../../actors/community/referral.ts'
import { weekOf } from '../../actors/kernel/calendar.ts'
import type { KnownUser, ReactionTx, UserDay, WeekShare } from '../../db/reaction-tx.ts'
import type { Commit, Reaction } from '../../db/outbox.ts'

type UserEvent = Exclude<CommittedEvent, { readonly kind: 'match_settled' }>

/** Days, badges, levels, credits, draws and headlines come from the main purse alone. */ // R15
const isOfMain = (event: CommittedEvent): boolean => event.kind !== 'match_settled' && event.purse === 'main'

/** Reacts under the terms of the moment. */
export const reactionUnder =
  (terms: () => ReferralTerms): Reaction =>
  (commits, effects) =>
    react(commits, effects, terms())

/** Writes the reactions to these commits of one match. */
export async function react(
  commits: readonly Commit[],
  effects: ReactionTx,
  terms: ReferralTerms = DEFAULT_REFERRAL_TERMS,
): Promise<void> {
  const traders = [...new Set(commits.flatMap((commit) => commit.events.filter(isOfUser).map((e) => e.userId)))]
  const at = commits.at(-1)?.at
  if (traders.length === 0 || at === undefined) return
  const ofMain = commits.map(countedIn).flatMap((commit) => commit.events.filter(isOfUser).filter(isOfMain))
  const traded = ofMain.filter((event) => event.kind === 'opened' || isCountedClose(event))
  const waiting = await uncreditedOf(new Set(traded.map(({ userId }) => userId)), effects)
  const known = await effects.lockUsers([...new Set([...traders, ...waiting.map(({ referrerId }) => referrerId)])])
  const given = { known, referrals: await stillWaiting(waiting, effects), at, terms }
  await write(commits.map(ofUsersIn(known)), given, effects)
}

/**
 * Credits referrals that were earned when they could not be credited: their referrers had no room in that week, or were
 * frozen.
 */ // R10
export async function creditWaiting(effects: ReactionTx, at: Instant, terms: ReferralTerms): Promise<void> {
  const waiting = await effects.waiting(terms, weekOf(at))
  if (waiting.length === 0) return
  const known = await effects.lockUsers([
    ...new Set(waiting.flatMap(({ referrerId, refereeId }) => [referrerId, refereeId])),
  ])
  await write([], { known, referrals: await stillWaiting(waiting, effects), at, terms }, effects)
}

const uncreditedOf = async (users: ReadonlySet<UserId>, effects: ReactionTx): Promise<readonly Credit[]> =>
  users.size === 0 ? [] : effects.uncredited([...users])

/** Asked again once careers are locked: another transaction may have credited them meanwhile. */
const stillWaiting = (waiting: readonly Credit[], effects: ReactionTx): Promise<readonly Credit[]> =>
  uncreditedOf(new Set(waiting.map(({ refereeId }) => refereeId)), effects)

interface Given {
  readonly known: ReadonlyMap<UserId, KnownUser>
  readonly referrals: readonly Credit[]
  readonly at: Instant
  readonly terms: ReferralTerms
}

async function write(commits: readonly Commit[], given: Given, effects: ReactionTx): Promise<void> {
  const { known, referrals, at, terms } = given
  const counts = commits.map(countedIn)
  const events = counts.flatMap((commit) => commit.events.filter(isOfUser).map((event) => ({ event, commit })))
  const ofMain = events.filter(({ event }) => isOfMain(event))
  const newDays = await effects.addDays('open', openDays(ofMain))
  const voidDays = await effects.addDays('open', lostDays(ofMain))
  const newCloseDays = await effects.addDays('close', closeDays(ofMain))

  const careers = new Map([...known].map(([user, { career }]) => [user, career]))
  const peaks = new Map<UserId, Career[]>()
  const change = (user: UserId, to: (career: Career) => Career, takesBack = false): void => {
    const career = present(careers.get(user), `the career of ${user}`)
    if (takesBack) peaks.set(user, [...(peaks.get(user) ?? []), career])
    careers.set(user, to(career))
  }
  for (const { userId, days } of newDays) change(userId, (career) => advanceDays(career, days))
  for (const { event } of events) change(event.userId, (career) => advance(career, event), takesBack(event))
  for (const { userId, days } of voidDays) change(userId, (career) => advanceDays(career, days), true)
  for (const { userId, days } of newCloseDays) change(userId, (career) => advanceCloseDays(career, days))
  const voided = events.flatMap(({ event }) => (event.kind === 'voided' ? [event] : []))
  const records = await effects.voids.records(
    voided
      .filter((event) => mayHoldRecord(present(careers.get(event.userId), 'career'), event))
      .map(({ userId }) => userId),
  )
  for (const [user, left] of records) change(user, (career) => withRecords(career, left))
  // A trade that is taken back was still a first trade, however commits are grouped.
  const reached = (user: UserId): Career[] => [...(peaks.get(user) ?? []), careers.get(user) ?? NEW_CAREER]
  const isEarnedBy = (user: UserId): boolean => reached(user).some((career) => isEarned(career, terms))
  // Without commits these have waited, and were found to be earned: their first trade may be void by now.
  const earned = commits.length === 0 ? referrals : referrals.filter(({ refereeId }) => isEarnedBy(refereeId))
  const credits = earned.length === 0 ? [] : await withinWeek(earned, { at, terms }, effects)
  for (const { referrerId } of credits) change(referrerId, (c) => ({ ...c, referrals: c.referrals + 1 }))

  await effects.saveCareers(
    careers,
    voided.map(({ userId }) => userId),
  )
  await effects.addWeeks(weekShares(counts))
  await announce(commits, { known, peaks, careers, credits, at }, effects)
  // After the headlines of these commits, which it takes back as well.
  await effects.voids.takeBack(voided)
  await effects.credit(credits, at)
}

const isOfUser = (event: CommittedEvent): event is UserEvent => event.kind !== 'match_settled'

/** A commit without the events of users who are no longer in the database. */
const ofUsersIn =
  (known: ReadonlyMap<UserId, KnownUser>) =>
  (commit: Commit): Commit => ({
    ...commit,
    events: commit.events.filter((event) => !isOfUser(event) || known.has(event.userId)),
  })

const countedIn = (commit: Commit): Commit => ({
  ...commit,
  events: commit.events.flatMap((event) => counted(event) ?? []),
})

interface Outcome {
  readonly known: ReadonlyMap<UserId, KnownUser>
  /**
   * Careers just before something was taken back. What they had reached is announced, so that the grouping of commits
   * makes no difference.
   */
  readonly peaks: ReadonlyMap<UserId, readonly Career[]>
  readonly careers: ReadonlyMap<UserId, Career>
  readonly credits: readonly Credit[]
  readonly at: Instant
}

/** Awards badges and takes them back, and writes notifications and activity. */
async function announce(commits: readonly Commit[], outcome: Outcome, effects: ReactionTx): Promise<void> {
  const { known, peaks, careers, credits, at } = outcome
  const reachedBy = (user: UserId, career: Career): Career[] => [...(peaks.get(user) ?? []), career]
  const before = new Map([...known].map(([user, { career }]) => [user, new Set(earnedBadges(career))]))
  const kept = new Map([...careers].map(([user, career]) => [user, new Set(earnedBadges(career))]))
  const due = [...careers].flatMap(([userId, career]) => {
    const reached = new Set(reachedBy(userId, career).flatMap(earnedBadges))
    return [...reached]
      .filter((badge) => before.get(userId)?.has(badge) !== true)
      .map((badge) => ({ userId, badge, at }))
  })
  const isKept = ({ userId, badge }: (typeof due)[number]): boolean => kept.get(userId)?.has(badge) === true
  const awarded = await effects.addBadges(due.filter(isKept))
  const badges = due.filter((one) => !isKept(one) || awarded.has(`${one.userId}:${one.badge.id}`))
  await effects.removeBadges(
    [...before].flatMap(([userId, had]) =>
      [...had].filter((badge) => kept.get(userId)?.has(badge) !== true).map((badge) => ({ userId, badge })),
    ),
  )

  const names = await effects.instrumentNames(mentionedIn(commits))
  const nameOf = (id: Parameters<typeof names.get>[0]): string => names.get(id) ?? 'a player'
  const reasons = await effects.voids.reasons(commits.flatMap(({ events }) => events.filter(isByOperator)))
  const reasonOf = (id: PositionId): string | null => reasons.get(id) ?? null
  await effects.notify([
    ...commits.flatMap((c) =>
      noticesOf({ key: `${c.matchId}:${c.seq}`, matchId: c.matchId, at: c.at, events: c.events }, nameOf, reasonOf),
    ),
    ...badges.map(({ userId, badge }) => badgeNotice(userId, badge, at)),
    ...[...careers].flatMap(([user, career]) => {
      const xp = Math.max(...reachedBy(user, career).map((one) => one.xp))
      return levelsGained(known.get(user)?.career.xp ?? 0, xp, user, at)
    }),
    ...credits.map((credit) => creditNotice(credit, at)),
  ])
  await effects.publish(
    [
      ...commits.flatMap((commit) => headlinesOf(commit.events.filter(isOfMain), commit.at, nameOf)),
      ...badges.map(({ userId, badge }) => badgeHeadline(userId, badge, at)),
    ].filter((headline) => known.get(headline.userId)?.offBoards !== true),
    (user) => present(known.get(user), `user ${user}`).districtId,
  )
}

const isByOperator = (event: CommittedEvent): event is ClosedEvent | VoidedEvent =>
  event.kind === 'voided' || (event.kind === 'closed' && event.voidReason === 'operator')

function levelsGained(before: number, after: number, user: UserId, at: Instant) {
  const from = levelOf(before)
  return Array.from({ length: Math.max(0, levelOf(after) - from) }, (_, n) => levelNotice(user, from + n + 1, at))
}

/** The instruments that a notification may name. */
const mentionedIn = (commits: readonly Commit[]) => [
  ...new Set(
    commits.flatMap(({ events }) =>
      events.flatMap((e) => (e.kind === 'match_settled' || e.kind === 'opened' ? [] : [e.instrumentId])),
    ),
  ),
]

type Committed = readonly { readonly event: UserEvent; readonly commit: Commit }[]

const openDays = (events: Committed): UserDay[] =>
  summedDays(
    events
      .filter(({ event }) => event.kind === 'opened')
      .map(({ event: { userId }, commit: { at } }) => ({ userId, day: dayOf(at), times: 1 })),
  )

/** The openings that were void. */ // R14
const lostDays = (events: Committed): UserDay[] =>
  summedDays(
    events.flatMap(({ event }) =>
      (event.kind === 'voided' && event.others === undefined) || (event.kind === 'closed' && event.by === 'void')
        ? [{ userId: event.userId, day: dayOf(event.openedAt), times: -1 }]
        : [],
    ),
  )

const takesBack = (event: UserEvent): boolean =>
  event.kind === 'corrected' || event.kind === 'voided' || (event.kind === 'closed' && event.by === 'void')

const closeDays = (events: Committed): UserDay[] =>
  summedDays(
    events.flatMap(({ event, commit: { at } }) => {
      const { userId } = event
      if (event.kind === 'voided' && event.others !== undefined) return []
      if (event.kind === 'voided') return [{ userId, day: dayOf(event.closedAt), times: -1 }]
      return isCountedClose(event) ? [{ userId, day: dayOf(at), times: 1 }] : []
    }),
  )

function summedDays(days: readonly UserDay[]): UserDay[] {
  const sums = new Map<string, UserDay>()
  for (const one of days) {
    const key = `${one.userId}:${one.day}`
    sums.set(key, { ...one, times: one.times + (sums.get(key)?.times ?? 0) })
  }
  return [...sums.values()]
}

/** The credits for which their referrers still have room this week. The others wait for a later one. */
async function withinWeek(
  earned: readonly Credit[],
  { at, terms }: { readonly at: Instant; readonly terms: ReferralTerms },
  effects: ReactionTx,
): Promise<readonly Credit[]> {
  const given = new Map(await effects.creditsIn(weekOf(at), [...new Set(earned.map(({ referrerId }) => referrerId))]))
  return earned.filter(({ referrerId }) => {
    const before = given.get(referrerId) ?? 0
    if (before >= terms.weeklyMax) return false
    given.set(referrerId, before + 1)
    return true
  })
}

/**
 * What the commits add to the weeks of users. A position belongs to the week in which it was opened, or a loser could
 * be kept until the next one.
 */ // R11
function weekShares(commits: readonly Commit[]): WeekShare[] {
  const shares = new Map<string, WeekShare>()
  for (const event of commits.flatMap(({ events }) => events.filter(isOfMain))) {
    const one = shareOf(event)
    if (one === null) continue
    const week = weekOf(one.openedAt).name
    const key = `${week}:${one.share.userId}`
    shares.set(key, summed({ week, ...one.share }, shares.get(key)))
  }
  return [...shares.values()]
}

/** What a close, or its correction, adds to its week. */
function shareOf(event: CommittedEvent) {
  if (isCountedClose(event)) {
    const { userId, pnl, baseMove: baseMoves, margin, instrumentId, openedAt } = event
    const wins = pnl > 0 ? 1 : 0
    return { openedAt, share: { userId, closed: 1, wins, pnl, baseMoves, margin, players: [instrumentId] } }
  }
  if (event.kind === 'voided') {
    const { userId, before, margin, openedAt } = event
    const lost = { pnl: money(-before.pnl), baseMoves: money(-before.baseMove), margin: money(-margin) }
    const { closed, wins } = takenBack(event)
    return { openedAt, share: { userId, closed: -closed, wins: -wins, ...lost, players: [] } }
  }
  if (event.kind !== 'corrected') return null
  const { userId, pnl, baseMove, before, openedAt } = event
  const { wins } = correctedBy(event)
  const moved = { pnl: money(pnl - before.pnl), baseMoves: money(baseMove - before.baseMove), margin: money(0) }
  return { openedAt, share: { userId, closed: 0, wins, ...moved, players: [] } }
}

const summed = (share: WeekShare, to: WeekShare | undefined): WeekShare =>
  to === undefined
    ? share
    : {
        ...share,
        closed: to.closed + share.closed,
        wins: to.wins + share.wins,
        pnl: money(to.pnl + share.pnl),
        baseMoves: money(to.baseMoves + share.baseMoves),
        margin: money(to.margin + share.margin),
        players: [...to.players, ...share.players],
      }
