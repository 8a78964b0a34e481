/** What is played next, by day in the user's time, and a reminder for each match. */
import type { Match } from '../../client/wire.ts'
import { timeOfDay } from '../../format.ts'
import { html } from '../../html.ts'
import { useRepeated, useRequest, Waiting } from '../../parts/use-request.ts'
import { now } from '../../server-clock.ts'
import { api } from '../../session.ts'
import { locale, say, wordsOf } from '../../words.ts'
import { beginsWords } from './begins.ts'
import { changeFollows, follows } from './state.ts'
import { said } from './words.ts'

const own = wordsOf(said)
const EVERY_MS = 60_000
const MATCHES_MAX = 20

const day = new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long' })

export function Upcoming() {
  const { answer, trouble, again } = useRequest(() => api.matches('upcoming'))
  useRepeated(again, EVERY_MS)
  const next = (answer?.matches ?? []).slice(0, MATCHES_MAX)
  const days = [...Map.groupBy(next, ({ startsAt }) => day.format(new Date(startsAt)))]
  return html`
    <section class="card" aria-labelledby="upcoming-title">
      <header><h2 id="upcoming-title">${own.upcoming}</h2></header>
      ${answer === null ? html`<${Waiting} trouble=${trouble} />` : null}
      ${answer !== null && next.length === 0 ? html`<p class="empty">${own.noFixtures}</p>` : null}
      ${days.map(
        ([name, matches]) => html`
          <div class="inside" key=${name}>
            <h3>${name}</h3>
            <ul class="rows">
              ${matches.map((match) => html`<${Fixture} key=${match.id} match=${match} />`)}
            </ul>
          </div>
        `,
      )}
    </section>
  `
}

function Fixture({ match: fixture }: { match: Match }) {
  const { id, home, away, startsAt } = fixture
  const isOn = follows.value?.reminders.includes(id) ?? false
  const match = `${home.name} – ${away.name}`
  return html`
    <li>
      <time class="num" datetime=${startsAt}>${timeOfDay(startsAt)}</time>
      <b>${match}</b>
      <small>${beginsWords(fixture, now.value)}</small>
      <button
        class="small"
        aria-pressed=${isOn}
        aria-label=${say(own.remindOf, { match })}
        onClick=${() => void changeFollows(() => api.remind(id, !isOn))}
      >
        ${isOn ? own.reminded : own.remind}
      </button>
    </li>
  `
}
