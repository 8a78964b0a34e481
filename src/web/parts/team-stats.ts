/** The statistics of both teams, side by side. */
import { html } from '../html.ts'
import { matchEvents, selectedMatch } from '../market.ts'

/** Under the provider's names, with the words of the page. */
const SHOWN: readonly (readonly [string, string])[] = [
  ['Ball Possession %', 'Possession %'],
  ['Shots Total', 'Shots'],
  ['Shots On Target', 'Shots on target'],
  ['Corners', 'Corners'],
  ['Passes', 'Passes'],
  ['Tackles', 'Tackles'],
  ['Fouls', 'Fouls'],
  ['Offsides', 'Offsides'],
  ['Saves', 'Saves'],
]

export function TeamStats() {
  const stats = matchEvents.value?.teamStats
  const match = selectedMatch.value
  if (stats === undefined || match === null) return null
  const found = SHOWN.flatMap(([key, label]) => {
    const [home, away] = [stats.home[key], stats.away[key]]
    return typeof home === 'number' && typeof away === 'number' ? [{ label, home, away }] : []
  })
  if (found.length === 0) return null
  return html`
    <section class="card team-stats" aria-labelledby="stats-title">
      <header><h2 id="stats-title">Team statistics</h2></header>
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
