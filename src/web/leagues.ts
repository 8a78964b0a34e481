/** The user's private leagues, and the purse they have chosen to trade with. */
import { computed, signal } from '@preact/signals'
import type { League, Match, Purse } from './client/wire.ts'
import { selectedMatch } from './market.ts'
import { api } from './session.ts'
import { words } from './words.ts'

export const leagues = signal<readonly League[]>([])
/** The league that pays for orders where it can; null for the purse of the match. */
const chosen = signal<string | null>(null)

/** The matches of tournaments that have begun. */
const tournamentMatches = signal<ReadonlySet<number>>(new Set())

export async function refreshLeagues(): Promise<void> {
  const [own, { tournaments }] = await Promise.all([api.leagues(), api.tournaments()])
  tournamentMatches.value = new Set(tournaments.flatMap(({ matchId }) => (matchId === null ? [] : [matchId])))
  leagues.value = own.leagues
}

const takes = (league: League, match: Match): boolean => {
  if (league.matches === 'chosen') return league.matchIds.includes(match.id)
  if (league.matches === 'tournaments') return tournamentMatches.value.has(match.id)
  return match.purse === (league.matches === 'all' ? 'main' : 'practice')
}

/** The leagues that take orders in the match on the screen. */
export const leaguesHere = computed<readonly League[]>(() => {
  const match = selectedMatch.value
  return match === null ? [] : leagues.value.filter((league) => league.state === 'running' && takes(league, match))
})

/** The league that pays for the next order, or null. */
export const leagueHere = computed<League | null>(() => leaguesHere.value.find(({ id }) => id === chosen.value) ?? null)

/** What the next order is paid from. */
export const purse = computed<Purse>(() => leagueHere.value?.id ?? selectedMatch.value?.purse ?? 'main')

export function choosePurse(league: string | null): void {
  chosen.value = league
}

export const isLeague = (of: Purse): boolean => of !== 'main' && of !== 'practice'

/** What a purse is called, as in "value of …". */
export function purseName(of: Purse): string {
  if (of === 'main') return words.purse.account
  if (of === 'practice') return words.purse.practice
  return leagues.value.find(({ id }) => id === of)?.name ?? words.purse.league
}

/** Where a visitor with a join link has come to: kept until they have signed in and decided. */
const CODE = 'touchline.league'

export function leagueCode(): string | null {
  const [, code] = /^\/league\/(\w+)$/.exec(location.pathname) ?? []
  if (code !== undefined) sessionStorage.setItem(CODE, code)
  return sessionStorage.getItem(CODE)
}

export const forgetLeagueCode = (): void => sessionStorage.removeItem(CODE)

export function forgetLeagues(): void {
  leagues.value = []
  tournamentMatches.value = new Set()
  chosen.value = null
}
