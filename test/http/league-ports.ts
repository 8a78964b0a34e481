/** Leagues as the routes see them: one that Alice is a member of, and what becomes of codes. */
import { type FixtureId, leagueId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import { HOUR_MS, instant } from '../../actors/kernel/world.ts'
import type { Joined, OwnLeague } from '../../db/leagues.ts'
import type { LeaguesPort } from '../../src/http/ports.ts'

export const LEAGUE = leagueId('0197f2a0-7e10-7c40-9a51-3c2b1a09f8e7')
/** A league of which Alice is no member. */
export const ELSEWHERE = leagueId('0197f2a0-7e10-7c40-9a51-3c2b1a09f8e8')

const CODE = '9f2c4b7d01ae'
const BOB = userId('0197f2a0-0000-7000-8000-00000000000b')

const ownLeague = (now: number): OwnLeague => ({
  id: LEAGUE,
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

export const leaguesPort = (alice: UserId, fixture: FixtureId, now: number): LeaguesPort => ({
  found: async (_user, { name }) => (name === 'Too many' ? { kind: 'too_many' } : { kind: 'joined', league: LEAGUE }),
  join: async (_user, code) => BY_CODE[code] ?? { kind: 'unknown' },
  leave: async (_user, id) => id === LEAGUE,
  list: async () => [ownLeague(now)],
  find: async (_user, id) => (id === LEAGUE ? ownLeague(now) : null),
  byCode: async (code) => (code === CODE ? { ...ownLeague(now), matches: [fixture] } : null),
  table: async () => [
    { rank: 1, userId: BOB, username: 'bob', value: money(1_100_000_000), openPositions: 0 },
    { rank: 2, userId: alice, username: 'alice', value: money(987_654_321), openPositions: 1 },
  ],
  matchTable: async () => [{ rank: 1, userId: BOB, username: 'bob', pnl: money(100_000_000), closed: 2 }],
  trading: async (_user, id, match) => {
    if (id !== LEAGUE) return { kind: 'not_member' }
    return { kind: match.purse === 'main' ? 'open' : 'other_match' }
  },
})
