/** Match events, newest first. */
import type { MatchEvent } from '../client/wire.ts'
import { html } from '../html.ts'
import { instruments, matchEvents, showInstrument } from '../market.ts'
import { Icon } from './icons.ts'

const WORDS: Readonly<Record<MatchEvent['type'], string>> = {
  goal: 'Goal',
  own_goal: 'Own goal',
  penalty_goal: 'Goal from the spot',
  penalty_missed: 'Penalty missed',
  substitution: 'On',
  yellow: 'Yellow card',
  red: 'Red card',
  second_yellow: 'Second yellow',
  shootout_goal: 'Scores',
  shootout_miss: 'Misses',
  var: 'VAR',
  var_card: 'VAR: card',
  other: 'Event',
}

export const eventWords = ({ type, retracted }: MatchEvent): string =>
  retracted ? `${WORDS[type]}, overturned` : WORDS[type]

/** A letter or sign per kind, so that colour is not the only difference; goals have a ball. */
const SIGNS: Readonly<Record<MatchEvent['type'], string | null>> = {
  goal: null,
  own_goal: null,
  penalty_goal: null,
  penalty_missed: '✕',
  substitution: '⇅',
  yellow: 'Y',
  red: 'R',
  second_yellow: 'R',
  shootout_goal: null,
  shootout_miss: '✕',
  var: 'V',
  var_card: 'V',
  other: '•',
}

export const Sign = ({ event: { type } }: { event: MatchEvent }) => html`
  <span class="sign ${type}" aria-hidden="true">${SIGNS[type] ?? html`<${Icon} name="goal" />`}</span>
`

export function MatchEvents() {
  const events = matchEvents.value?.events ?? []
  return html`
    <section class="card events" aria-labelledby="events-title">
      <header><h2 id="events-title">On the pitch</h2></header>
      ${
        events.length === 0
          ? html`<p class="empty">Nothing yet. Goals, cards and substitutions appear here and on the chart.</p>`
          : html`<ol>
              ${events.toReversed().map((event) => html`<${Event} key=${event.id} event=${event} />`)}
            </ol>`
      }
    </section>
  `
}

function Event({ event }: { event: MatchEvent }) {
  const name = event.playerName ?? ''
  const instrument = [...instruments.value.values()].find((one) => one.name === name)
  const also = event.relatedPlayerName
  return html`
    <li class=${event.retracted ? 'retracted' : ''}>
      <span class="minute num">${event.minute}${event.extraMinute === null ? '' : `+${event.extraMinute}`}′</span>
      <${Sign} event=${event} />
      <span class="what">
        <b>${eventWords(event)}${event.result === null ? '' : ` ${event.result}`}</b>
        ${
          instrument === undefined
            ? html`<span>${name}</span>`
            : html`<button class="link" onClick=${() => showInstrument(instrument.id)}>${name}</button>`
        }
        ${also === null ? null : html`<small>${event.type === 'substitution' ? 'for' : 'with'} ${also}</small>`}
      </span>
    </li>
  `
}
