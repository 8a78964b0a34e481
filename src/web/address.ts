/** The player and the purse of the trading page are part of its address, so that links, reload and back find them. */
import { effect, signal } from '@preact/signals'
import { choosePurse, leagueHere } from './leagues.ts'
import { instruments, isLoaded, selectedId, showInstrument } from './market.ts'
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

/** Call it once. */
export function keepAddress(): void {
  // What the address asked for last and was given: afterwards the page leads, and the address follows.
  let given = ''
  effect(() => {
    if (!isTrading.value || !isLoaded.value) return
    const asked = [section.value, item.value].filter(Boolean).join('/')
    const [id, league] = [selectedId.value, leagueHere.value?.id]
    if (asked !== given) {
      given = asked
      if (item.peek() !== '') choosePurse(item.peek())
      if (instruments.peek().has(section.peek())) return showInstrument(section.peek())
    }
    if (id === null) return
    const shown = league === undefined ? id : `${id}/${league}`
    given = shown
    if (shown !== asked) replace(`${view.peek()}/${shown}`)
  })
}
