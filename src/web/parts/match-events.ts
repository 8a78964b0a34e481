/** Match events, newest first. */
import { pick } from '../address.ts'
import type { MatchEvent } from '../client/wire.ts'
import { html } from '../html.ts'
import { instruments, matchEvents } from '../market.ts'
import { Icon } from './icons.ts'
import { say, words } from '../words.ts'

const WORDS: Readonly<Record<MatchEvent['type'], string>> = {
  goal: words.events.goal,
  own_goal: words.events.ownGoal,
  penalty_goal: words.events.spotGoal,
  penalty_missed: words.events.penaltyMissed,
  substitution: words.events.on,
  yellow: words.events.yellow,
  red: words.events.red,
  second_yellow: words.events.secondYellow,
  shootout_goal: words.events.scores,
  shootout_miss: words.events.misses,
  var: words.events.var,
  var_card: words.events.varCard,
  other: words.events.other,
}

/** The minute of an event, such as 45+2′; nothing while it is not known. */
export const minuteWords = ({ minute, extraMinute }: Pick<MatchEvent, 'minute' | 'extraMinute'>): string =>
  minute === null ? '' : `${minute}${extraMinute === null ? '' : `+${extraMinute}`}′`

export const eventWords = ({ type, retracted }: MatchEvent): string =>
  retracted ? say(words.events.overturned, { what: WORDS[type] }) : WORDS[type]

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

export const MatchEvents = () => html`<${EventList} events=${matchEvents.value?.events ?? []} />`

export function EventList({ events }: { events: readonly MatchEvent[] }) {
  return html`
    <section class="card events" aria-labelledby="events-title">
      <header><h2 id="events-title">${words.events.title}</h2></header>
      ${
        events.length === 0
          ? html`<p class="empty">${words.events.none}</p>`
          : html`<ol tabindex="0" aria-labelledby="events-title">
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
      <span class="minute num">${minuteWords(event)}</span>
      <${Sign} event=${event} />
      <span class="what">
        <b>${eventWords(event)}${event.result === null ? '' : ` ${event.result}`}</b>
        ${
          instrument === undefined
            ? html`<span>${name}</span>`
            : html`<button class="link" onClick=${() => pick(instrument.id)}>${name}</button>`
        }
        ${also === null ? null : html`<small>${say(event.type === 'substitution' ? words.events.for : words.events.with, { name: also })}</small>`}
      </span>
    </li>
  `
}
