/** Reactions to commits: careers, weeks, badges, levels, referral credits, notifications and activity. */
import { present } from '../../actors/kernel/assert.ts'
import type { UserId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import type { Instant } from '../../actors/kernel/world.ts'
import { earnedBadges } from '../../actors/community/badges.ts'
import {
  advance,
  advanceCloseDays,
  advanceDays,
  type Career,
  dayOf,
  levelOf,
  NEW_CAREER,
} from '../../actors/community/career.ts'
import { type CommittedEvent, isCountedClose } from '../../actors/community/committed-event.ts'
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
import { weekOf } from '../../actors/community/spinner.ts'
import type { ReactionTx, KnownUser, WeekShare } from '../../db/reaction-tx.ts'
import type { Commit, Reaction } from '../../db/outbox.ts'

type UserEvent = Exclude<CommittedEvent, { readonly kind: 'match_settled' }>

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
  const events = commits.flatMap((commit) =>
    commit.events
      .filter((event): event is UserEvent => event.kind !== 'match_settled')
      .map((event) => ({ event, commit })),
  )
  const at = commits.at(-1)?.at
  if (events.length === 0 || at === undefined) return

  const opens = events.filter(({ event }) => event.kind === 'opened')
  const closes = events.filter(({ event }) => isCountedClose(event))
  const traders = [...new Set(events.map(({ event }) => event.userId))]
  const closers = [...new Set(closes.map(({ event }) => event.userId))]
  const referrals = closers.length === 0 ? [] : await effects.uncredited(closers)
  const known = await effects.lockUsers([...new Set([...traders, ...referrals.map(({ referrerId }) => referrerId)])])
  const newDays = await effects.addDays('open', daysOf(opens))
  const newCloseDays = await effects.addDays('close', daysOf(closes))

  const careers = new Map([...known].map(([user, { career }]) => [user, career]))
  const change = (user: UserId, to: (career: Career) => Career): void => {
    careers.set(user, to(present(careers.get(user), `the career of ${user}`)))
  }
  for (const { event, commit } of events) change(event.userId, (career) => advance(career, event, commit))
  for (const user of newDays) change(user, (career) => advanceDays(career, 1))
  for (const user of newCloseDays) change(user, (career) => advanceCloseDays(career, 1))
  const earned = referrals.filter(({ refereeId }) => isEarned(careers.get(refereeId) ?? NEW_CAREER, terms))
  const credits = earned.length === 0 ? [] : await withinWeek(earned, { at, terms }, effects)
  for (const { referrerId } of credits) change(referrerId, (c) => ({ ...c, referrals: c.referrals + 1 }))

  await effects.saveCareers(careers)
  await effects.addWeeks(weekShares(commits))
  await announce(commits, { known, careers, credits, at }, effects)
  await effects.credit(credits, at)
}

interface Outcome {
  readonly known: ReadonlyMap<UserId, KnownUser>
  readonly careers: ReadonlyMap<UserId, Career>
  readonly credits: readonly Credit[]
  readonly at: Instant
}

/** Awards badges, and writes notifications and activity. */
async function announce(commits: readonly Commit[], outcome: Outcome, effects: ReactionTx): Promise<void> {
  const { known, careers, credits, at } = outcome
  const earned = [...careers].flatMap(([userId, career]) =>
    earnedBadges(career).map((badge) => ({ userId, badge, at })),
  )
  const before = new Map([...known].map(([user, { career }]) => [user, new Set(earnedBadges(career))]))
  const due = earned.filter(({ userId, badge }) => before.get(userId)?.has(badge) !== true)
  const awarded = await effects.addBadges(due)
  const badges = due.filter(({ userId, badge }) => awarded.has(`${userId}:${badge.id}`))

  const names = await effects.instrumentNames(mentionedIn(commits))
  const nameOf = (id: Parameters<typeof names.get>[0]): string => names.get(id) ?? 'a player'
  await effects.notify([
    ...commits.flatMap((c) => noticesOf({ key: `${c.matchId}:${c.seq}`, at: c.at, events: c.events }, nameOf)),
    ...badges.map(({ userId, badge }) => badgeNotice(userId, badge, at)),
    ...[...careers].flatMap(([user, career]) => levelsGained(known.get(user)?.career, career, user, at)),
    ...credits.map((credit) => creditNotice(credit, at)),
  ])
  await effects.publish(
    [
      ...commits.flatMap((commit) => headlinesOf(commit.events, commit.at, nameOf)),
      ...badges.map(({ userId, badge }) => badgeHeadline(userId, badge, at)),
    ],
    (user) => present(known.get(user), `user ${user}`).districtId,
  )
}

function levelsGained(before: Career | undefined, after: Career, user: UserId, at: Instant) {
  const from = levelOf(before?.xp ?? 0)
  return Array.from({ length: levelOf(after.xp) - from }, (_, n) => levelNotice(user, from + n + 1, at))
}

/** The instruments that a notification may name. */
const mentionedIn = (commits: readonly Commit[]) => [
  ...new Set(
    commits.flatMap(({ events }) =>
      events.flatMap((e) => (e.kind === 'match_settled' || e.kind === 'opened' ? [] : [e.instrumentId])),
    ),
  ),
]

function daysOf(events: readonly { readonly event: UserEvent; readonly commit: Commit }[]) {
  const days = events.map(({ event: { userId }, commit: { at } }) => ({ userId, day: dayOf(at) }))
  return [...new Map(days.map((day) => [`${day.userId}:${day.day}`, day])).values()]
}

/** The credits for which their referrers still have room this week. The others wait for a later close of the friend. */
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
 * What the commits add to the weeks of users: to the week of all matches, and to that of live ones. A position belongs
 * to the week in which it was opened, or a loser could be kept until the next one.
 */ // R11
function weekShares(commits: readonly Commit[]): WeekShare[] {
  const shares = new Map<string, WeekShare>()
  for (const { replay, events } of commits) {
    for (const event of events.filter(isCountedClose)) {
      const week = weekOf(event.openedAt).name
      for (const live of replay ? [false] : [false, true]) {
        const key = `${week}:${live}:${event.userId}`
        const { userId, pnl, baseMove: baseMoves, margin, instrumentId } = event
        const one = { closed: 1, wins: pnl > 0 ? 1 : 0, pnl, baseMoves, margin, players: [instrumentId] }
        shares.set(key, summed({ week, live, userId, ...one }, shares.get(key)))
      }
    }
  }
  return [...shares.values()]
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
