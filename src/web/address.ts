/** What a page shows, a match or a player and a purse, is part of its address: links, reload and back find it. */
import { computed, effect, signal } from '@preact/signals'
import { choosePurse, isLeague, leaguesHere, purse } from './leagues.ts'
import {
  instruments,
  isLoaded,
  isSettled,
  matches,
  selectedId,
  selectedMatchId,
  showInstrument,
  showMatch,
} from './market.ts'
import { go, isTrading, item, replace, section, view } from './route.ts'

/** Whether the user has chosen a player on this visit. */
export const hasPicked = signal(false)

/** Chooses a player without leaving the view. */
export function pickHere(id: string): void {
  hasPicked.value = true
  showInstrument(id)
}

/** Shows a player with the ticket. What was shown before stays behind the back button. */
export function pick(id: string): void {
  hasPicked.value = true
  go(`trade/${id}`)
}

/** The settled match that the match page shows: by its address, or because it has ended while it was shown. */
export const endedMatch = computed(() => {
  if (view.value !== 'match') return null
  const named = matches.value.find(({ id }) => id === Number(section.value))
  return named !== undefined && isSettled(named) ? named : null
})

/** Call it once. */
export function keepAddress(): void {
  keepMatch()
  keepPlayer()
}

function keepMatch(): void {
  let given = ''
  effect(() => {
    const [asked, shown] = [section.value, selectedMatchId.value]
    if (view.value !== 'match') given = ''
    if (view.value !== 'match' || !isLoaded.value || endedMatch.value !== null || shown === null) return
    const isNew = asked !== given
    given = asked
    if (isNew && Number(asked) !== shown && matches.value.some(({ id }) => id === Number(asked)))
      showMatch(Number(asked))
    else if (Number(asked) !== shown) replace(`match/${shown}`)
  })
}

function keepPlayer(): void {
  // What the address asked for last and was given: afterwards the page leads, and the address follows. Back from
  // another view, the address is asked again: there the page may have been led elsewhere.
  let given = ''
  effect(() => {
    if (!isTrading.value) given = ''
    if (!isTrading.value || !isLoaded.value) return
    const asked = [section.value, item.value].filter(Boolean).join('/')
    if (asked !== given) {
      given = asked
      if (instruments.peek().has(section.peek())) showInstrument(section.peek())
      if (item.peek() !== '') choosePurse(isLeague(item.peek()) ? item.peek() : null)
    }
    const id = selectedId.value
    if (id === null) return
    // Where leagues could pay, the wallet is named, too: back finds it after a league was chosen.
    const shown = leaguesHere.value.length === 0 ? id : `${id}/${purse.value}`
    given = shown
    if (shown !== asked) replace(`${view.peek()}/${shown}`)
  })
}
