/** The community ports with fixed values: Alice ranks second of two. */
import { districtId, fixtureId, userId } from '../../actors/kernel/ids.ts'
import { lots, money, price } from '../../actors/kernel/micros.ts'
import { type Instant, instant } from '../../actors/kernel/world.ts'
import { NEW_CAREER } from '../../actors/community/career.ts'
import type { LegacyTrade } from '../../actors/community/legacy.ts'
import { weekOf } from '../../actors/kernel/calendar.ts'
import { boardPlace, comparePlaces, type Ranked, type Standing } from '../../actors/community/ranking.ts'
import type { SpinnerWeek } from '../../src/features/spinner/store.ts'
import type { User } from '../../db/users.ts'
import type { FeaturePorts } from './feature-parts.ts'
import type { CommunityPorts } from '../../src/http/community-ports.ts'

const BOB = userId('0197f2a0-0000-7000-8000-00000000000b')

type Ports = CommunityPorts & Pick<FeaturePorts, 'spinner' | 'tell' | 'inbox' | 'legacy' | 'invites'>

export function communityPorts(alice: User, now: Instant): Ports {
  const standing = (over: Partial<Standing>): Standing => ({
    userId: BOB,
    districtId: districtId(1),
    pnl: money(250_000_000),
    baseMoves: money(250_000_000),
    stake: money(1_000_000_000),
    closed: 4,
    wins: 3,
    firstTradeAt: instant(now - 1_000),
    version: 1,
    ...over,
  })
  const first = { rank: 1, standing: standing({}) }
  const second = {
    rank: 2,
    standing: standing({ userId: alice.id, pnl: money(-12_345_678), baseMoves: money(-12_345_678), wins: 1 }),
  }
  const candidate = {
    userId: BOB,
    username: 'bob',
    districtId: districtId(1),
    roiHundredths: 1_234,
    winPpm: 750_000,
    closed: 4,
  }
  const week: SpinnerWeek = {
    ...weekOf(now),
    status: 'open',
    candidates: [candidate],
    winner: null,
    seedHash: 'b5d4',
    publishedAt: now,
    seed: null,
    bases: [],
    decidedAt: null,
  }
  const decided: SpinnerWeek = { ...week, status: 'decided', winner: candidate, seed: '5eed', decidedAt: now }
  const legacyTrade: LegacyTrade = {
    id: 'L1',
    userId: alice.id,
    player: 'A. Striker',
    side: 'buy',
    quantity: lots(3_000_000),
    price: price(10_000_000),
    at: now,
  }
  const names = new Map([
    [BOB, 'bob'],
    [alice.id, alice.username],
  ])
  const boards: CommunityPorts['boards']['main'] = {
    top: async ({ by }, limit, { after = null, offset = 0 } = {}) => {
      const isLeft = (one: Ranked) => after === null || comparePlaces(boardPlace(by, one.standing), after) > 0
      return { total: 2, entries: [first, second].filter(isLeft).slice(offset, offset + limit) }
    },
    place: async (_board, user) => (user === alice.id ? { ...second, total: 2, next: first } : null),
    standings: async () => [first.standing, second.standing],
    districts: async () => [{ districtId: districtId(1), members: 2, roiPpmSum: 237_654 }],
  }
  return {
    boards: {
      main: boards,
      practice: { ...boards, top: async () => ({ total: 0, entries: [] }), place: async () => null },
    },
    careers: {
      find: async () => NEW_CAREER,
      achievements: async () => ({ career: NEW_CAREER, badges: new Map([['first_whistle', now]]) }),
      names: async (users) =>
        new Map(users.map((user) => [user, { username: names.get(user) ?? '', isBot: user === BOB }])),
    },
    keeper: { rebuild: async () => 2 },
    referrals: {
      find: async (code) => (code === 'bob5code00' ? { referrerId: BOB, referrerName: 'bob' } : null),
      network: async () => [alice.id, BOB],
    },
    invites: {
      invite: async (_referrer, name) => ({
        id: '0197f2a0-0000-7000-8000-0000000000e1',
        name,
        code: 'c0ffee0001',
        createdAt: now,
        registeredAt: null,
        creditedAt: null,
        reward: money(0),
      }),
      list: async () => ({
        ownCode: alice.referralCode,
        referrals: [],
        sums: { invited: 0, registered: 0, credited: 0, rewards: money(0) },
      }),
      isReferred: async () => false,
    },
    inbox: {
      list: async (user, { limit }) => ({
        unread: 1,
        notifications: [
          {
            id: 41,
            userId: user,
            type: 'badge' as const,
            title: 'First whistle',
            body: 'You have earned a badge: Open your first position.',
            data: { badgeId: 'first_whistle' },
            createdAt: now,
            read: false,
          },
        ].slice(0, limit),
      }),
      unreadCount: async () => 1,
      read: async (_user, id) => id === 41,
      readAll: async () => 1,
    },
    activity: {
      list: async () => [
        {
          id: 7,
          type: 'big_win',
          userId: BOB,
          username: 'bob',
          districtId: districtId(1),
          text: 'won 612.50 long on A. Striker',
          data: { pnl: 612.5 },
          at: now,
        },
      ],
    },
    spinner: {
      current: async () => ({
        ...week,
        status: 'tied',
        candidates: [candidate, { ...candidate, userId: alice.id }],
        previous: decided,
      }),
      history: async () => [decided],
      run: async () => ({ kind: 'decided', week: decided, notifications: [] }),
    },
    legacy: {
      trades: async () => ({ trades: [legacyTrade], total: 1 }),
      history: async () => [legacyTrade],
    },
    tell: () => undefined,
    reactions: {
      setAside: async () => [
        { matchId: fixtureId(7), seq: 3, error: 'Error: poison', attempts: 5, at: now, key: [now * 1_000, 7, 3] },
      ],
      lag: async () => ({ commits: 1, oldestAt: now }),
      retry: async (matchId, seq) => matchId === 7 && seq === 3,
    },
  }
}
