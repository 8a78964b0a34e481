/** Both line-ups of the match on the screen. */
import { computed, signal } from '@preact/signals'
import type { Squad } from './client/wire.ts'
import { lineUp } from './line-up.ts'
import { matchEvents, quoteOf, selectedMatch, selectedMatchId } from './market.ts'
import { api } from './session.ts'

type SquadPlayer = Squad['players'][number]

const squads = signal<{ readonly matchId: number; readonly home: Squad; readonly away: Squad } | null>(null)

/** The match whose squads the server did not know when it was asked. */
export const unknownSquads = signal<number | null>(null)

let asked: { readonly matchId: number; readonly answer: Promise<void> } | null = null

/** Asked once a match: who has come on since is told by its events. */
export async function loadSquads(matchId: number): Promise<void> {
  if (squads.peek()?.matchId === matchId) return
  if (asked?.matchId !== matchId) asked = { matchId, answer: ask(matchId).finally(() => (asked = null)) }
  await asked.answer
}

async function ask(matchId: number): Promise<void> {
  const [home, away] = await Promise.all([api.squad(matchId, 'home'), api.squad(matchId, 'away')])
  // Before the line-ups are known they are empty, and asked again with the next visit.
  const isKnown = home.players.length > 0 && away.players.length > 0
  unknownSquads.value = isKnown ? null : matchId
  if (isKnown && matchId === selectedMatchId.peek()) squads.value = { matchId, home, away }
}

/** Null until both squads have arrived. */
export const lineUps = computed(() => {
  const known = squads.value
  const match = selectedMatch.value
  if (known === null || match === null || known.matchId !== match.id) return null
  const events = matchEvents.value?.events ?? []
  const isClosed = ({ instrumentId: id }: SquadPlayer): boolean =>
    match.tradeWindow.open && quoteOf(id).value.status === 'CLOSED'
  return {
    home: lineUp('home', known.home.players, events, isClosed),
    away: lineUp('away', known.away.players, events, isClosed),
  }
})
