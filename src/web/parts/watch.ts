/** A live match for somebody who is not signed in, a little behind. */
import { useState } from 'preact/hooks'
import type { WatchedMatch } from '../client/wire.ts'
import { arrow, percent, units, way } from '../format.ts'
import { html } from '../html.ts'
import { kitsOf } from '../kits.ts'
import { api } from '../session.ts'
import { Crest } from './crest.ts'
import { eventWords, minuteWords, Sign } from './match-events.ts'
import { stateWords } from './scoreboard.ts'
import { useRepeated, useRequest } from './use-request.ts'
import { say, words } from '../words.ts'

const EVERY_MS = 10_000
const PLAYERS_FIRST = 5
const EVENTS_SHOWN = 4

/** The number in the address of a match to watch. */
export function watchedId(): number | null {
  const [, id] = /^\/watch\/(\d+)$/.exec(location.pathname) ?? []
  return id === undefined ? null : Number(id)
}

export function Watch() {
  const [chosen, choose] = useState<number | null>(watchedId)
  const [isWhole, setWhole] = useState(watchedId() !== null)
  const list = useRequest(() => api.watched())
  const matches = list.answer?.matches ?? []
  const id = chosen ?? matches[0]?.id ?? null
  // Somebody who watches nothing is not told that nothing is on.
  const one = useRequest(async () => (id === null ? null : api.watchedMatch(id).catch(() => null)), [id])
  useRepeated(() => {
    list.again()
    one.again()
  }, EVERY_MS)
  if (one.answer === null) return null
  const { match, delaySecs } = one.answer
  const kits = kitsOf(match.home.name, match.away.name)
  return html`
    <section class="card watch" aria-labelledby="watch-title">
      <header>
        <h2 id="watch-title">${words.watch.title}</h2>
        ${
          matches.length < 2
            ? null
            : html`<select
                aria-label=${words.match.another}
                value=${match.id}
                onChange=${(event: Event) => choose(Number((event.target as HTMLSelectElement).value))}
              >
                ${matches.map(({ id: key, home, away }) => html`<option value=${key}>${home.name} – ${away.name}</option>`)}
              </select>`
        }
      </header>
      <p class="score">
        <b>${match.home.name} <${Crest} kit=${kits.home} /></b>
        <b
          class="num"
          aria-label=${say(words.match.score, { home: match.home.score ?? 0, away: match.away.score ?? 0 })}
        >
          ${match.home.score ?? 0}–${match.away.score ?? 0}
        </b>
        <b><${Crest} kit=${kits.away} /> ${match.away.name}</b>
      </p>
      <p class="hint">
        ${match.minute === null ? '' : `${match.minute}′ `}${stateWords(match)} ·
        ${say(words.watch.behind, { secs: delaySecs })}
      </p>
      <${Latest} match=${match} />
      <${Players} match=${match} isWhole=${isWhole} />
      ${isWhole ? null : html`<button class="link" onClick=${() => setWhole(true)}>${say(words.watch.allPlayers, { n: match.players.length })}</button>`}
    </section>
  `
}

type Match = WatchedMatch['match']

function Latest({ match: { events } }: { match: Match }) {
  const latest = events.filter(({ type }) => type !== 'other' && type !== 'substitution').slice(-EVENTS_SHOWN)
  if (latest.length === 0) return null
  return html`
    <ol class="latest" aria-label=${words.watch.happened}>
      ${latest
        .toReversed()
        .map(
          (event) =>
            html`<li key=${event.id}>
              <${Sign} event=${event} /> ${minuteWords(event)}
              ${eventWords(event)}${event.playerName === null ? '' : ` · ${event.playerName}`}
            </li>`,
        )}
    </ol>
  `
}

/** Those who have moved most come first. */
function Players({ match: { players }, isWhole }: { match: Match; isWhole: boolean }) {
  const byMove = players.toSorted((a, b) => Math.abs(b.changePct) - Math.abs(a.changePct))
  return html`
    <ul class="rows">
      ${byMove.slice(0, isWhole ? byMove.length : PLAYERS_FIRST).map(
        ({ name, position, side, price, changePct }) => html`
          <li key=${side + name}>
            <span class="post ${side}">${position}</span> <span class="who">${name}</span>
            <b class="num">${units(price)}</b>
            <span class="num ${way(changePct)}"
              ><i aria-hidden="true">${arrow(changePct)}</i> ${percent(changePct)}</span
            >
          </li>
        `,
      )}
    </ul>
  `
}
