/** The match: a pitch with both line-ups at live prices, what has happened, and the statistics of both teams. */
import { useEffect } from 'preact/hooks'
import { html } from '../html.ts'
import { PAGE_FEATURES } from '../features/index.ts'
import { doubt, obstacle } from '../live.ts'
import { isLoaded, matchEvents, selectedMatch } from '../market.ts'
import { MatchEvents } from '../parts/match-events.ts'
import { MatchMovers, MatchTrades } from '../parts/match-market.ts'
import { MatchTimeline } from '../parts/match-timeline.ts'
import { Pitch, Reserves } from '../parts/pitch.ts'
import { PurseBanner } from '../parts/purse.ts'
import { Scoreboard } from '../parts/scoreboard.ts'
import { TicketSheet } from '../parts/sheet.ts'
import { TeamStats } from '../parts/team-stats.ts'
import { Tour } from '../parts/tour.ts'
import { loadSquads } from '../squads.ts'
import { words } from '../words.ts'

const FIXTURES = PAGE_FEATURES.flatMap(({ cards }) => cards?.fixtures ?? [])
const CARDS = PAGE_FEATURES.flatMap(({ cards }) => cards?.match ?? [])

export function MatchPage() {
  const match = selectedMatch.value
  const id = match?.id ?? null
  useEffect(() => {
    // Without an answer the pitch stays empty; the next change of state asks again.
    if (id !== null) loadSquads(id).catch(() => undefined)
  }, [id, match?.state, matchEvents.value === null])
  if (!isLoaded.value) return html`<p class="loading" role="status">${obstacle.value ?? words.match.fetching}</p>`
  if (match === null) {
    return html`
      <div class="match-page">
        <p class="empty">${words.match.noneLineUps}</p>
        ${FIXTURES.map((Card) => html`<${Card} />`)}
      </div>
    `
  }
  return html`
    <${Tour} />
    <div class="match-page">
      <h1 class="sr-only">${words.match.label}</h1>
      <${Scoreboard} />
      <${PurseBanner} />
      ${doubt.value === null ? null : html`<p class="doubt" role="alert">${doubt.value}</p>`}
      <${MatchTimeline} />
      <div class="match-columns">
        <div><${Pitch} /><${Reserves} />${FIXTURES.map((Card) => html`<${Card} />`)}</div>
        <div>
          <${MatchMovers} />${CARDS.map((Card) => html`<${Card} matchId=${match.id} />`)}<${TeamStats} /><${MatchTrades} /><${MatchEvents} />
        </div>
      </div>
    </div>
    <${TicketSheet} />
  `
}
