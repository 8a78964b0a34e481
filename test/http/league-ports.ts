/** Leagues as the routes see them: one that Alice is a member of, and what becomes of codes. */
import { seasonAt } from '../../src/features/seasons/seasons.ts'
import { type FixtureId, instrumentId, leagueId, positionId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { money, type Price } from '../../actors/kernel/micros.ts'
import type { ClosedPosition, Position } from '../../actors/position/position.ts'
import { HOUR_MS, instant } from '../../actors/kernel/world.ts'
import type { Joined, OwnLeague } from '../../src/features/leagues/store.ts'
import type { UnnamedPurses } from '../../src/features/leagues/unnamed.ts'
import type { Tournament } from '../../src/features/tournaments/store.ts'
import type { FeaturePorts } from './feature-parts.ts'

export const LEAGUE = leagueId('0197f2a0-7e10-7c40-9a51-3c2b1a09f8e7')
/** One whose match is that of a tournament which Alice has entered. */
export const CUP_PLAYER = instrumentId('0197f2a0-0000-8000-8000-0000000000c1')
/** A league of which Alice is no member. */
export const ELSEWHERE = leagueId('0197f2a0-7e10-7c40-9a51-3c2b1a09f8e8')
/** Alice's season. */
export const SEASON = leagueId('0197f2a0-7e10-7c40-9a51-3c2b1a09f8e9')

export const CODE = '9f2c4b7d01ae'
const BOB = userId('0197f2a0-0000-7000-8000-00000000000b')
const LEAVING = userId('0197f2a0-0000-7000-8000-00000000000c')

const ownLeague = (now: number): OwnLeague => ({
  id: LEAGUE,
  kind: 'private',
  season: null,
  code: CODE,
  name: 'Harbour Friends',
  founder: 'bob',
  startsAt: instant(now - HOUR_MS),
  endsAt: instant(now + HOUR_MS),
  startingBalance: money(1_000_000_000),
  matches: 'all',
  members: 2,
  decidedAt: null,
  joinedAt: instant(now - HOUR_MS),
})

const BY_CODE: Readonly<Record<string, Joined>> = {
  [CODE]: { kind: 'joined', league: LEAGUE },
  full: { kind: 'full' },
  over: { kind: 'over' },
  many: { kind: 'too_many' },
}

export const leaguesPort = (alice: UserId, fixture: FixtureId, now: number): FeaturePorts['leagues'] => ({
  found: async (_user, { name }) => (name === 'Too many' ? { kind: 'too_many' } : { kind: 'joined', league: LEAGUE }),
  join: async (_user, code) => BY_CODE[code] ?? { kind: 'unknown' },
  leave: async (_user, id) => id === LEAGUE,
  list: async () => [ownLeague(now)],
  find: async (_user, id) =>
    id === LEAGUE ? ownLeague(now) : id === SEASON ? { ...ownLeague(now), kind: 'season' } : null,
  byCode: async (code) => (code === CODE ? { ...ownLeague(now), matches: [fixture] } : null),
  table: async () => [
    { rank: 1, userId: BOB, username: 'bob', value: money(1_100_000_000), openPositions: 0, isOff: false },
    { rank: 2, userId: alice, username: 'alice', value: money(987_654_321), openPositions: 1, isOff: false },
    { rank: 3, userId: LEAVING, username: 'carol', value: money(987_000_000), openPositions: 0, isOff: true },
  ],
  matchTable: async () => [{ rank: 1, userId: BOB, username: 'bob', pnl: money(100_000_000), closed: 2 }],
  trading: async (_user, id, match) => {
    if (id !== LEAGUE) return { kind: 'not_member' }
    return { kind: match.purse === 'main' ? 'open' : 'other_match' }
  },
})

export const unnamedPurses: Pick<UnnamedPurses, 'of'> = {
  of: async (_user, instrument) => (instrument === CUP_PLAYER ? LEAGUE : null),
}

export const TOURNAMENT = leagueId('0197f2a0-7e10-7c40-9a51-3c2b1a09f8e9')

const tournament = (now: number): Tournament => ({
  id: TOURNAMENT,
  name: 'Friday Night Cup',
  seed: '00112233445566778899aabbccddeeff'.repeat(2),
  isSeedPublic: false,
  startsAt: instant(now + HOUR_MS),
  endsAt: instant(now + 2 * HOUR_MS),
  speed: 10,
  startingBalance: money(10_000_000_000),
  match: null,
  isMatchKnown: false,
  entrants: 2,
  decidedAt: null,
})

export const tournamentsPort = (now: number): FeaturePorts['tournaments'] => ({
  schedule: async () => TOURNAMENT,
  change: async (id, change) =>
    id !== TOURNAMENT ? 'unknown' : change.kind === 'set' && change.terms.name === 'begun' ? 'begun' : 'changed',
  list: async () => [tournament(now)],
  find: async (id) => (id === TOURNAMENT ? tournament(now) : null),
  entered: async () => new Set([TOURNAMENT]),
  enter: async (_user, id) => ({ kind: id === TOURNAMENT ? 'entered' : 'unknown' }),
})

/** Seasons and recaps as the routes see them. */
export const contestPorts = (
  position: Position,
  now: number,
): Pick<FeaturePorts, 'seasons' | 'recaps' | 'picture'> => ({
  seasons: {
    current: () => seasonAt(instant(now)),
    entry: async () => null,
    enter: async () => ({ kind: 'entered', league: LEAGUE }),
    past: async () => [
      {
        season: { id: '2026-04', division: 5, group: 12 },
        league: LEAGUE,
        rank: 3,
        members: 50,
        value: money(11_000_000_000),
        outcome: 'promoted',
      },
    ],
  },
  recaps: {
    closes: async (user) => {
      if (user !== position.userId) return null
      const closes = [closedIn(position, now - HOUR_MS, 50_000_000), closedIn(position, now, -20_000_000)]
      return { since: instant(now - 2 * HOUR_MS), start: money(10_000_000_000), closes, earlier: [] }
    },
    rank: async (user) => ({ before: 9, after: 7, passed: [user] }),
    players: async ([id]) => new Map(id === undefined ? [] : [[id, { name: '=Mara "M" Lind', role: 'FWD' }]]),
    marks: async () => [],
  },
  picture: async (svg) => new Uint8Array(Buffer.from(svg)),
})

function closedIn(position: Position, at: number, pnl: number): ClosedPosition {
  const price: Price = position.openPrice
  const close = { price, base: price, pnl: money(pnl), at: instant(at), by: 'user', voidReason: null } as const
  const id = positionId(`0197f2a0-0000-7000-8000-${String(at).slice(-12)}`)
  return { ...position, id, openedAt: instant(at - HOUR_MS), close }
}
