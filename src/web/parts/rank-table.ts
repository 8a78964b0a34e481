/** Traders by rank. */
import type { BoardEntry } from '../client/wire.ts'
import { percent, share, signed, way } from '../format.ts'
import { html } from '../html.ts'
import { words } from '../words.ts'

interface RankTableProps {
  readonly entries: readonly BoardEntry[]
  /** Rows of lower ranks below the others, under a title. */
  readonly apart?: { readonly title: string; readonly entries: readonly BoardEntry[] }
}

const COLUMNS = [words.league.rank, words.league.user, words.league.roi, words.league.pnl, words.league.wins]

export function RankTable({ entries, apart }: RankTableProps) {
  return html`
    <div class="scroll board" tabindex="0" role="region" aria-label=${words.league.ranks}>
      <table>
        <thead>
          <tr>
            ${COLUMNS.map((column) => html`<th key=${column} scope="col">${column}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${entries.map(row)}
        </tbody>
        ${
          apart === undefined || apart.entries.length === 0
            ? null
            : html`<tbody>
                <tr>
                  <th scope="rowgroup" colspan=${COLUMNS.length}><small>${apart.title}</small></th>
                </tr>
                ${apart.entries.map(row)}
              </tbody>`
        }
      </table>
    </div>
  `
}

const row = ({ rank, userId, username, roiPct, pnl, winRate, bot, isMe }: BoardEntry) => html`
  <tr key=${userId} class=${isMe ? 'me' : ''}>
    <td class="num">${rank}</td>
    <th scope="row">${username}${bot ? ` ${words.league.bot}` : ''}${isMe ? ` ${words.league.you}` : ''}</th>
    <td class="num ${way(roiPct)}">${percent(roiPct)}</td>
    <td class="num ${way(pnl)}">${signed(pnl)}</td>
    <td class="num">${share(winRate)}</td>
  </tr>
`
