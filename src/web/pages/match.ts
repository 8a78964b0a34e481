/** The match: a pitch with both line-ups at live prices, what has happened, and the statistics of both teams. */
import { useEffect } from 'preact/hooks'
import { endedMatch } from '../address.ts'
import type { Match } from '../client/wire.ts'
import { PAGE_FEATURES } from '../features/index.ts'
import { html } from '../html.ts'
import { doubt, obstacle } from '../live.ts'
import { isLoaded, isSettled, matchEvents, selectedMatch } from '../market.ts'
import { EventList, MatchEvents } from '../parts/match-events.ts'
import { MatchMovers, MatchTrades } from '../parts/match-market.ts'
import { MatchTimeline, Timeline } from '../parts/match-timeline.ts'
import { Pitch, Reserves } from '../parts/pitch.ts'
import { PurseBanner } from '../parts/purse.ts'
import { Score, Scoreboard } from '../parts/scoreboard.ts'
import { TicketSheet } from '../parts/sheet.ts'
import { StatsOf, TeamStats } from '../parts/team-stats.ts'
import { Tour } from '../parts/tour.ts'
import { useRequest } from '../parts/use-request.ts'
import { api } from '../session.ts'
import { loadSquads } from '../squads.ts'
import { say, words } from '../words.ts'

const FIXTURES = PAGE_FEATURES.flatMap(({ cards }) => cards?.fixtures ?? [])
const CARDS = PAGE_FEATURES.flatMap(({ cards }) => cards?.match ?? [])

export function MatchPage() {
  if (!isLoaded.value) return html`<p class="loading" role="status">${obstacle.value ?? words.match.fetching}</p>`
  const ended = endedMatch.value
  if (ended !== null) return html`<${FullTime} key=${ended.id} match=${ended} />`
  const match = selectedMatch.value
  if (match !== null) return html`<${Live} match=${match} />`
  return html`
    <div class="match-page">
      <p class="empty">${words.match.noneLineUps}</p>
      ${FIXTURES.map((Card) => html`<${Card} />`)}
    </div>
  `
}

function Live({ match: { id, state } }: { match: Match }) {
  useEffect(() => {
    // Without an answer the pitch stays empty; the next change of state asks again.
    loadSquads(id).catch(() => undefined)
  }, [id, state, matchEvents.value === null])
  return html`
    <${Tour} />
    <div class="match-page">
      <h1 class="sr-only">${words.match.label}</h1>
      <${Scoreboard} doubt=${doubt.value} />
      <${PurseBanner} />
      <${MatchTimeline} />
      <div class="match-columns">
        <div><${Pitch} /><${Reserves} />${FIXTURES.map((Card) => html`<${Card} />`)}</div>
        <div>
          <${MatchMovers} />${CARDS.map((Card) => html`<${Card} matchId=${id} />`)}<${TeamStats} /><${MatchTrades} /><${MatchEvents} />
        </div>
      </div>
    </div>
    <${TicketSheet} />
  `
}

const RESULTS = PAGE_FEATURES.flatMap(({ cards }) => cards?.fullTime ?? [])

/** The result, and what features make of it. */
function FullTime({ match }: { match: Match }) {
  const { answer } = useRequest(() => api.matchEvents(match.id))
  const events = answer?.events ?? []
  const next = selectedMatch.value
  return html`
    <div class="match-page">
      <h1 class="sr-only">${words.match.result}</h1>
      <${Score} match=${match}>
        ${
          next === null || next.id === match.id || isSettled(next)
            ? null
            : html`<a href="#/match/${next.id}"
                >${say(words.match.next, { home: next.home.name, away: next.away.name })}</a
              >`
        }
      <//>
      <${Timeline} match=${match} events=${events} />
      ${RESULTS.map((Result) => html`<${Result} match=${match} events=${events} />`)}
      <div class="match-columns">
        <div><${EventList} events=${events} /></div>
        <div>${answer === null ? null : html`<${StatsOf} match=${match} stats=${answer.teamStats} />`}</div>
      </div>
    </div>
  `
}
