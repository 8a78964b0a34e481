/** The user's private leagues, and the purse they have chosen to trade with. */
import { computed, signal } from '@preact/signals'
import type { League, Match, Purse } from './client/wire.ts'
import { monthName } from './format.ts'
import { matches, selectedMatch } from './market.ts'
import { api } from './session.ts'
import { toast } from './toasts.ts'
import { say, words } from './words.ts'
import { visit } from './storage.ts'

export const leagues = signal<readonly League[]>([])
/** Until then what pays for an order is not known. */
export const areLeaguesKnown = signal(false)
/** The league that pays for orders where it can; null for the purse of the match. */
const chosen = signal<string | null>(null)

/** The matches in which the user has chosen the purse of the match instead of their tournament's. */
const declined = signal<ReadonlySet<number>>(new Set())

/** The tournaments that have begun, by their match. A tournament has the id of its league. */
const tournamentOf = signal<ReadonlyMap<number, string>>(new Map())

export async function refreshLeagues(): Promise<void> {
  const [own, { tournaments }] = await Promise.all([api.leagues(), api.tournaments()])
  tournamentOf.value = new Map(tournaments.flatMap(({ id, matchId }) => (matchId === null ? [] : [[matchId, id]])))
  leagues.value = own.leagues.map(inWords)
  areLeaguesKnown.value = true
}

/** With a name in the language of the page: only people name a league in their own. */
export const inWords = (league: League): League =>
  league.season === null
    ? league
    : { ...league, name: say(words.leagues.season, { ...league.season, month: monthName(league.season.id) }) }

/** Learns which leagues take new matches, and says that a tournament has begun which the user has entered. */
export async function takeNewMatches(ids: readonly number[]): Promise<void> {
  await refreshLeagues()
  for (const id of ids) {
    const entered = leagues.peek().find((league) => league.id === tournamentOf.peek().get(id))
    if (entered === undefined) continue
    toast({ tone: 'good', title: say(words.leagues.begun, { name: entered.name }), text: words.leagues.begunHint })
  }
}

export const takes = (league: League, match: Match): boolean => {
  if (league.matches === 'chosen') return league.matchIds.includes(match.id)
  if (league.matches === 'tournaments') return tournamentOf.value.has(match.id)
  return match.purse === (league.matches === 'all' ? 'main' : 'practice')
}

/** The leagues that take orders in the match on the screen. */
export const leaguesHere = computed<readonly League[]>(() => {
  const match = selectedMatch.value
  return match === null ? [] : leagues.value.filter((league) => league.state === 'running' && takes(league, match))
})

/** The league that pays for the next order, or null: the chosen one, else the tournament of the match. */
export const leagueHere = computed<League | null>(() => {
  const match = selectedMatch.value
  if (match === null) return null
  const own = declined.value.has(match.id) ? undefined : tournamentOf.value.get(match.id)
  const named = (wanted: string | null | undefined) => leaguesHere.value.find(({ id }) => id === wanted)
  return named(chosen.value) ?? named(own) ?? null
})

/** A match of the league that takes orders now: the one on the screen, or the first. Null if there is none. */
export function matchOf(league: League): Match | null {
  const open = matches.value.filter((match) => match.tradeWindow.status !== 'CLOSED' && takes(league, match))
  return open.find(({ id }) => id === selectedMatch.value?.id) ?? open[0] ?? null
}

/** What the next order is paid from. */
export const purse = computed<Purse>(() => leagueHere.value?.id ?? selectedMatch.value?.purse ?? 'main')

export function choosePurse(league: string | null): void {
  chosen.value = league
  const match = selectedMatch.peek()
  if (league === null && match !== null) declined.value = new Set([...declined.peek(), match.id])
}

export const isLeague = (of: Purse): boolean => of !== 'main' && of !== 'practice'

/** What a purse is called, as in "value of …". */
export function purseName(of: Purse): string {
  if (of === 'main') return words.purse.account
  if (of === 'practice') return words.purse.practice
  return leagues.value.find(({ id }) => id === of)?.name ?? words.purse.league
}

/** Where a visitor with a join link has come to: kept until they have signed in, and then by this page alone. */
const CODE = 'touchline.league'
let taken: string | null = null

export function leagueCode(): string | null {
  const [, code] = /^\/league\/(\w+)$/.exec(location.pathname) ?? []
  if (code !== undefined) visit.set(CODE, code)
  return taken ?? visit.get(CODE)
}

/** The code, where the user goes next. A reload of the page does not go there again. */
export function takeLeagueCode(): string | null {
  taken = leagueCode()
  visit.remove(CODE)
  return taken
}

export const forgetLeagueCode = (): void => void (taken = null)

export function forgetLeagues(): void {
  areLeaguesKnown.value = false
  leagues.value = []
  tournamentOf.value = new Map()
  declined.value = new Set()
  chosen.value = null
}
