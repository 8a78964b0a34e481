/**
 * Signs of cheating in the openings of many accounts. Pure: the same openings give the same findings. Each test asks
 * how probable it is that honest users did this, and compares with what all others did at the same time, so that news
 * which all trade on accuses no user. A finding is a reason to look, never a verdict.
 */
import type { InstrumentId, UserId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/world.ts'
import { binomialTail, poissonTail } from './tails.ts'

/** One opening of a position. */
export interface Opening {
  readonly userId: UserId
  readonly instrumentId: InstrumentId
  readonly at: Instant
  readonly sign: 1 | -1
  /** In micros. */
  readonly lots: number
  /**
   * The mark-out: how far the base had moved in the position's favour ten seconds later, in ppm. The base knows no
   * trade and no correction. Null while those ten seconds are not over.
   */
  readonly markOut: number | null
}

/** What connects accounts. */
export interface Connections {
  readonly userId: UserId
  /** The networks that its sessions came from. */
  readonly places: readonly string[]
  readonly referrerId: UserId | null
}

export type FindingKind = 'ahead_of_news' | 'lockstep' | 'opposite' | 'referral_farm'

export interface Finding {
  readonly kind: FindingKind
  readonly users: readonly UserId[]
  /** The chance that honest users do as much; null where none is computed. */
  readonly chance: number | null
  /** How many openings show it. */
  readonly openings: number
}

/** A move that the rules of late trades call news, in ppm (`trading.late_move_pct`). */
const FAR_PPM = 5_000
/** Openings within a minute of a bet's first belong to it: one goal moves seven players. */
const BET_MS = 60_000
/** Few honest bets meet news within ten seconds. A prior, for hours in which few trade. */
const NEWS_SHARE_MIN = 0.03
/** Two in a million accounts by chance, in each run. */
const AHEAD_CHANCE = 2e-6
/** How long after another's opening the same one is a copy. A person who copies by hand takes up to this long. */
const COPY_MS = 20_000
/** 500 accounts make half a million ordered pairs of two kinds: one run in two hundred names a pair by chance. */
const PAIR_CHANCE = 1e-8
/** A pair needs this many coincidences, and they must be this share of the openings of the account that follows. */
const COPIES_MIN = 6
const COPIES_SHARE = 0.5
/** A referrer with this many friends in one place has more than a household. */
const FARM_MIN = 10
/** Friends who trade as little as a reward asks: five closes, at the smallest sizes. */
const FARM_OPENINGS_MAX = 12
const FARM_LOTS_MAX = 50_000

/** All findings in these openings: the latest of all accounts. */
export function findingsIn(openings: readonly Opening[], connections: readonly Connections[]): readonly Finding[] {
  const inOrder = openings.toSorted((a, b) => a.at - b.at)
  const byUser = Map.groupBy(inOrder, ({ userId }) => userId)
  return [...aheadOfNews(byUser), ...coincidences(inOrder, byUser), ...farms(byUser, connections)]
}

/** Accounts whose bets are followed by news far more often than those of all accounts. */
function aheadOfNews(byUser: ReadonlyMap<UserId, readonly Opening[]>): readonly Finding[] {
  const bets = [...byUser].map(([userId, own]) => ({ userId, ...betsOf(own) }))
  const all = bets.reduce((sum, { count }) => sum + count, 0)
  const allHit = bets.reduce((sum, { hits }) => sum + hits, 0)
  return bets.flatMap(({ userId, count, hits }) => {
    // Without its own: a cheat must not raise the bar for itself.
    const share = Math.max(NEWS_SHARE_MIN, (allHit - hits) / Math.max(1, all - count))
    const chance = binomialTail(hits, count, Math.min(0.5, share))
    return hits > 0 && chance < AHEAD_CHANCE
      ? [{ kind: 'ahead_of_news', users: [userId], chance, openings: hits } as const]
      : []
  })
}

/** The number of bets, and of those that news rewarded. */
function betsOf(own: readonly Opening[]): { readonly count: number; readonly hits: number } {
  let [count, hits] = [0, 0]
  let last: Instant | null = null
  let best = 0
  for (const { at, markOut } of own) {
    if (markOut === null) continue
    if (last === null || at - last > BET_MS) {
      count += 1
      best = 0
      last = at
    }
    if (best < FAR_PPM && markOut >= FAR_PPM) hits += 1
    best = Math.max(best, markOut)
  }
  return { count, hits }
}

interface Pair {
  readonly a: UserId
  readonly b: UserId
  readonly kind: 'lockstep' | 'opposite'
  /** `count`: openings of `a` shortly after one of `b`. `events`: the openings of `b` that they followed, each once. */
  count: number
  events: number
}

/**
 * Pairs of accounts of which one opens what the other has just opened, or its opposite, far more often than all who
 * traded these players in these seconds would. Connected pairs make a group.
 */
function coincidences(
  inOrder: readonly Opening[],
  byUser: ReadonlyMap<UserId, readonly Opening[]>,
): readonly Finding[] {
  const pairs = new Map<string, Pair>()
  /** Σ over an account's openings of how many of others were near. */
  const near = { lockstep: new Map<UserId, number>(), opposite: new Map<UserId, number>() }
  for (const own of Map.groupBy(inOrder, ({ instrumentId }) => instrumentId).values()) {
    let from = 0
    for (const [n, opening] of own.entries()) {
      while ((own[from]?.at ?? 0) < opening.at - COPY_MS) from += 1
      const seen = new Set<string>()
      for (let m = from; m < n; m += 1) {
        const other = own[m]
        if (other === undefined || other.userId === opening.userId) continue
        const kind = other.sign === opening.sign ? 'lockstep' : 'opposite'
        const key = `${kind} ${opening.userId} ${other.userId}`
        near[kind].set(opening.userId, (near[kind].get(opening.userId) ?? 0) + 1)
        const pair = pairs.get(key) ?? { a: opening.userId, b: other.userId, kind, count: 0, events: 0 }
        pair.events += 1
        if (!seen.has(key)) pair.count += 1
        seen.add(key)
        pairs.set(key, pair)
      }
    }
  }
  const sizeOf = (user: UserId): number => byUser.get(user)?.length ?? 0
  const often = [...pairs.values()].filter(({ a, count }) => count >= COPIES_MIN && count >= COPIES_SHARE * sizeOf(a))
  // A ring must not hide in the crowd that it makes: what is measured against is the rest.
  for (const { a, kind, events } of often) near[kind].set(a, (near[kind].get(a) ?? 0) - events)
  const suspicious = often.flatMap((pair) => {
    const { a, b, kind, count } = pair
    const others = Math.max(1, inOrder.length - sizeOf(a))
    const mean = (Math.max(count, near[kind].get(a) ?? 0) * sizeOf(b)) / others
    const chance = poissonTail(count, mean)
    return chance < PAIR_CHANCE ? [{ ...pair, chance }] : []
  })
  return (['lockstep', 'opposite'] as const).flatMap((kind) =>
    groupsOf(suspicious.filter((pair) => pair.kind === kind)),
  )
}

function groupsOf(pairs: readonly (Pair & { readonly chance: number })[]): readonly Finding[] {
  const groupOf = new Map<UserId, Set<UserId>>()
  for (const { a, b } of pairs) {
    const joined = new Set([...(groupOf.get(a) ?? [a]), ...(groupOf.get(b) ?? [b])])
    for (const user of joined) groupOf.set(user, joined)
  }
  return [...new Set(groupOf.values())].flatMap((users) => {
    const own = pairs.filter(({ a }) => users.has(a))
    const [first] = own
    if (first === undefined) return []
    const chance = Math.min(...own.map((pair) => pair.chance))
    return [{ kind: first.kind, users: [...users].toSorted(byText), chance, openings: sumOf(own.map((p) => p.count)) }]
  })
}

/** Referrers whose friends share a place and trade no more than a reward asks. */
function farms(
  byUser: ReadonlyMap<UserId, readonly Opening[]>,
  connections: readonly Connections[],
): readonly Finding[] {
  const referred = connections.filter(({ referrerId }) => referrerId !== null)
  return [...Map.groupBy(referred, ({ referrerId }) => referrerId)].flatMap(([referrerId, friends]): Finding[] => {
    const places = new Map<string, UserId[]>()
    for (const { userId, places: own } of friends) {
      for (const place of own) places.set(place, [...(places.get(place) ?? []), userId])
    }
    const largest = [...places.values()].toSorted((a, b) => b.length - a.length)[0] ?? []
    const idle = largest.filter((user) => isMinimal(byUser.get(user) ?? []))
    if (referrerId === null || idle.length < FARM_MIN || idle.length * 2 < friends.length) return []
    const openings = sumOf(idle.map((user) => byUser.get(user)?.length ?? 0))
    return [{ kind: 'referral_farm', users: [referrerId, ...idle.toSorted(byText)], chance: null, openings }]
  })
}

const isMinimal = (own: readonly Opening[]): boolean =>
  own.length > 0 && own.length <= FARM_OPENINGS_MAX && own.every(({ lots }) => lots <= FARM_LOTS_MAX)

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, n) => sum + n, 0)
