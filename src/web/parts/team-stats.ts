/** The statistics of both teams, side by side. */
import type { Match, MatchEvents } from '../client/wire.ts'
import { html } from '../html.ts'
import { matchEvents, selectedMatch } from '../market.ts'
import { words } from '../words.ts'

/** Under the provider's names, with the words of the page. */
const SHOWN: readonly (readonly [string, string])[] = [
  ['Ball Possession %', words.stats.possession],
  ['Shots Total', words.stats.shots],
  ['Shots On Target', words.stats.onTarget],
  ['Corners', words.stats.corners],
  ['Passes', words.stats.passes],
  ['Tackles', words.stats.tackles],
  ['Fouls', words.stats.fouls],
  ['Offsides', words.stats.offsides],
  ['Saves', words.stats.saves],
]

export function TeamStats() {
  const stats = matchEvents.value?.teamStats
  const match = selectedMatch.value
  return stats === undefined || match === null ? null : html`<${StatsOf} match=${match} stats=${stats} />`
}

export function StatsOf({ match, stats }: { match: Pick<Match, 'home' | 'away'>; stats: MatchEvents['teamStats'] }) {
  const found = SHOWN.flatMap(([key, label]) => {
    const [home, away] = [stats.home[key], stats.away[key]]
    return typeof home === 'number' && typeof away === 'number' ? [{ label, home, away }] : []
  })
  if (found.length === 0) return null
  return html`
    <section class="card team-stats" aria-labelledby="stats-title">
      <header><h2 id="stats-title">${words.stats.title}</h2></header>
      <table>
        <thead>
          <tr>
            <th scope="col">${match.home.name}</th>
            <td></td>
            <th scope="col">${match.away.name}</th>
          </tr>
        </thead>
        <tbody>
          ${found.map(
            ({ label, home, away }) => html`
              <tr key=${label}>
                <td class="num ${home > away ? 'more' : ''}">${home}</td>
                <th scope="row">${label}</th>
                <td class="num ${away > home ? 'more' : ''}">${away}</td>
              </tr>
            `,
          )}
        </tbody>
      </table>
    </section>
  `
}
