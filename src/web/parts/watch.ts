/** A match for a visitor, a little behind; of a settled one, how it ended. */
import { useState } from 'preact/hooks'
import { noneIfMissing } from '../client/ask.ts'
import type { WatchedMatch } from '../client/wire.ts'
import { arrow, percent, units, way } from '../format.ts'
import { html } from '../html.ts'
import { lineUp } from '../line-up.ts'
import { api } from '../session.ts'
import { grass, shirtOf } from './grass.ts'
import { EventList, eventWords, minuteWords, Sign } from './match-events.ts'
import { Timeline } from './match-timeline.ts'
import { isOver, Score } from './scoreboard.ts'
import { useRepeated, useRequest, Waiting } from './use-request.ts'
import { say, words } from '../words.ts'

const EVERY_MS = 10_000
const MOVERS = 5
const EVENTS_SHOWN = 4

/** The number in the address of a match to watch. */
export function watchedId(): number | null {
  const [, id] = /^\/watch\/(\d+)$/.exec(location.pathname) ?? []
  return id === undefined ? null : Number(id)
}

/** `isWhole`: the page is about it. */
export function Watch({ isWhole = false }: { isWhole?: boolean }) {
  const [chosen, choose] = useState<number | null>(watchedId)
  const list = useRequest(() => api.watched())
  const matches = list.answer?.matches ?? []
  const id = chosen ?? matches[0]?.id ?? null
  const one = useRequest(async () => {
    if (id === null) return null
    const asked = api.watchedMatch(id)
    // A visitor who watches no match is not told that none is on.
    return isWhole ? asked : asked.catch(noneIfMissing)
  }, [id])
  useRepeated(() => {
    list.again()
    one.again()
  }, EVERY_MS)
  if (one.answer === null) return isWhole ? html`<${Waiting} trouble=${one.trouble} />` : null
  const { match, delaySecs } = one.answer
  const hasEnded = isOver(match)
  return html`
    <section class="watch" aria-labelledby="watch-title">
      <h2 id="watch-title">${hasEnded ? words.watch.ended : words.watch.title}</h2>
      <${Score} match=${match}>
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
      <//>
      ${hasEnded ? null : html`<p class="hint">${say(words.watch.behind, { secs: delaySecs })}</p>`}
      ${isWhole ? html`<${Timeline} match=${match} events=${match.events} />` : html`<${Latest} match=${match} />`}
      ${pitch(match)} ${isWhole ? html`<${Movers} match=${match} /><${EventList} events=${match.events} />` : null}
    </section>
  `
}

type Match = WatchedMatch['match']

function pitch(match: Match) {
  const { players, events } = match
  const playing = (side: 'home' | 'away') =>
    lineUp(
      side,
      players.filter((player) => player.side === side),
      events,
    ).playing
  return grass(
    match,
    { home: playing('home'), away: playing('away') },
    (player) => html`
      <div class="shirt ${player.side}">
        ${shirtOf(player, events)}
        <span class="num at">${units(player.price)}</span>
        <small class="num ${way(player.changePct)}"
          ><i aria-hidden="true">${arrow(player.changePct)}</i> ${percent(player.changePct)}</small
        >
      </div>
    `,
  )
}

function Latest({ match: { events } }: { match: Match }) {
  const latest = events.filter(({ type }) => type !== 'other' && type !== 'substitution').slice(-EVENTS_SHOWN)
  if (latest.length === 0) return null
  return html`
    <ol class="latest" aria-label=${words.watch.happened}>
      ${latest.toReversed().map(
        (event) =>
          html`<li key=${event.id}>
            <${Sign} event=${event} />
            ${minuteWords(event)}${' '}${eventWords(event)}${event.playerName === null ? '' : ` · ${event.playerName}`}
          </li>`,
      )}
    </ol>
  `
}

function Movers({ match }: { match: Match }) {
  const byMove = match.players.toSorted((a, b) => Math.abs(b.changePct) - Math.abs(a.changePct))
  return html`
    <section class="card movers" aria-labelledby="movers-title">
      <header>
        <h2 id="movers-title">${isOver(match) ? words.matchMarket.movers : words.matchMarket.onPitch}</h2>
      </header>
      <ol>
        ${byMove.slice(0, MOVERS).map(
          ({ playerId, name, price, changePct }) => html`
            <li key=${playerId}>
              <span>${name}</span> <b class="num">${units(price)}</b>
              <span class="num ${way(changePct)}"
                ><i aria-hidden="true">${arrow(changePct)}</i> ${percent(changePct)}</span
              >
            </li>
          `,
        )}
      </ol>
    </section>
  `
}
