/** The trading floor: players, chart, ticket and positions; all at once on a desk, one at a time on a phone. */
import { html } from '../html.ts'
import { connection, doubt, obstacle } from '../live.ts'
import { isLoaded, selected } from '../market.ts'
import { view } from '../route.ts'
import { ChartCard } from '../parts/chart-card.ts'
import { MarketList } from '../parts/market-list.ts'
import { MatchEvents } from '../parts/match-events.ts'
import { PositionList } from '../parts/position-list.ts'
import { PurseBanner } from '../parts/purse.ts'
import { Scoreboard } from '../parts/scoreboard.ts'
import { Ticket } from '../parts/ticket.ts'
import { ShortcutHelp } from '../parts/shortcut-help.ts'
import { Tour } from '../parts/tour.ts'
import { words } from '../words.ts'

export function Trade() {
  if (!isLoaded.value) return html`<p class="loading" role="status">${obstacle.value ?? words.match.fetching}</p>`
  return html`
    <h1 class="sr-only">${words.nav.trade}</h1>
    <${Tour} />
    <div class="floor ${connection.value === 'live' ? '' : 'old'}" data-view=${view.value}>
      <div class="left"><${MarketList} /></div>
      <div class="middle">
        <${Scoreboard} doubt=${doubt.value} />
        <${PurseBanner} />
        ${
          selected.value === null
            ? html`<p class="empty">${words.match.nonePlayers}</p>`
            : html`<${ChartCard} instrument=${selected.value} />`
        }
        <${PositionList} />
      </div>
      <div class="right">
        ${selected.value === null ? null : html`<${Ticket} key=${selected.value.id} instrument=${selected.value} />`}
        <${MatchEvents} />
        <${ShortcutHelp} />
      </div>
    </div>
  `
}
