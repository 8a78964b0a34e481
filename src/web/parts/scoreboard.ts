/** The score of the selected match, and a switch to the others. */
import type { Match } from '../client/wire.ts'
import { timeOfDay } from '../format.ts'
import { html } from '../html.ts'
import { matches, selectedMatch, selectedMatchId, showMatch } from '../market.ts'

const STATES: Readonly<Record<string, string>> = {
  INPLAY_1ST_HALF: 'First half',
  HT: 'Half-time',
  INPLAY_2ND_HALF: 'Second half',
  EXTRA_TIME_BREAK: 'Before extra time',
  INPLAY_ET: 'Extra time',
  INPLAY_ET_2ND_HALF: 'Extra time, second half',
  PEN_BREAK: 'Before penalties',
  INPLAY_PENALTIES: 'Penalties',
  BREAK: 'Break',
  FT: 'Full time',
  AET: 'After extra time',
  FT_PEN: 'After penalties',
  FINISHED: 'Full time',
  NS: 'Not started',
}

/** The state of the match, with the score of a shoot-out. */
export function stateWords({
  state,
  startsAt,
  home,
  away,
}: Pick<Match, 'state' | 'startsAt' | 'home' | 'away'>): string {
  const words = state === 'NS' ? `Kick-off ${timeOfDay(startsAt)}` : (STATES[state ?? ''] ?? state ?? 'Unknown')
  if (home.shootout === null && away.shootout === null) return words
  return `${words}: ${home.shootout ?? 0}–${away.shootout ?? 0}`
}

const WINDOWS = { OPEN: 'Trading open', SUSPENDED: 'Suspended', CLOSED: 'Closed' } as const

export function Scoreboard() {
  const match = selectedMatch.value
  if (match === null) return null
  const { home, away, minute, tradeWindow } = match
  return html`
    <section class="scoreboard" aria-label="Match">
      <div class="caption">
        <span>${match.league}</span>
        <${Switch} />
        <span class="window ${tradeWindow.status.toLowerCase()}"><i></i>${WINDOWS[tradeWindow.status]}</span>
      </div>
      <div class="score">
        <b class="team home">${home.name}</b>
        <b class="goals" aria-label="${home.score ?? 0} to ${away.score ?? 0}">
          <span>${home.score ?? '–'}</span><i></i><span>${away.score ?? '–'}</span>
        </b>
        <b class="team away">${away.name}</b>
      </div>
      <p class="state">${minute === null ? '' : html`<b>${minute}′</b> `}${stateWords(match)}</p>
    </section>
  `
}

function Switch() {
  const others = matches.value.filter(
    ({ id, tradeWindow }) => id === selectedMatchId.value || tradeWindow.status !== 'CLOSED',
  )
  if (others.length < 2) return null
  return html`
    <select
      aria-label="Another match"
      value=${selectedMatchId.value}
      onChange=${(event: Event) => showMatch(Number((event.target as HTMLSelectElement).value))}
    >
      ${others.map(
        ({ id, home, away }) =>
          html`<option value=${id}>${home.name} ${home.score ?? 0}–${away.score ?? 0} ${away.name}</option>`,
      )}
    </select>
  `
}
