/** What the user's closed positions of a year came to, and every close as a file for a spreadsheet. */
import { useState } from 'preact/hooks'
import type { TradingRecord } from '../../client/wire.ts'
import { monthName, share, signed, way } from '../../format.ts'
import { html } from '../../html.ts'
import { useRequest, Waiting } from '../../parts/use-request.ts'
import { api } from '../../session.ts'
import { plural, say, wordsOf } from '../../words.ts'
import { Curve, Extremes } from './card.ts'
import { said } from './words.ts'

const own = wordsOf(said)
const PLAYERS_SHOWN = 10

type Sums = TradingRecord['total']

/** Asked for when it is opened. */
export function Record() {
  const [isOpen, setOpen] = useState(false)
  return html`
    <section class="card" aria-labelledby="record-title">
      <header>
        <h2 id="record-title">${own.record}</h2>
        <button class="small" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
          ${isOpen ? own.hideRecord : own.showRecord}
        </button>
      </header>
      ${isOpen ? html`<${Groups} />` : null}
    </section>
  `
}

function Groups() {
  const { answer, trouble } = useRequest(() => api.record())
  if (answer === null) return html`<${Waiting} trouble=${trouble} />`
  const { total, curve, best, worst, byRole, byDirection, byTimeHeld, byMonth, byPlayer } = answer
  if (total.trades === 0) return html`<p class="inside">${own.noRecord}</p>`
  const { averageWin: win, averageLoss: loss } = total
  const averages = win === null || loss === null ? '' : say(own.averages, { win: signed(win), loss: signed(loss) })
  return html`
    <div class="inside">
      <p class="hint">${own.recordAbout} ${averages}</p>
      <div class="full-time">
        <${Curve} recap=${{ curve, start: curve[0]?.value ?? 0, matchId: null }} />
        <${Extremes} best=${best} worst=${worst} />
      </div>
      <a class="small" href="/api/recaps/record?type=csv" download>${own.download}</a>
    </div>
    <div class="scroll board" tabindex="0" role="group" aria-labelledby="record-title">
      <table>
        <thead>
          <tr>
            <th scope="col">${own.what}</th>
            <th scope="col">${own.trades}</th>
            <th scope="col">${own.won}</th>
            <th scope="col">${own.pnl}</th>
          </tr>
        </thead>
        <tbody>
          <${Row} what=${own.inAll} sums=${total} />
        </tbody>
        <${Group} of=${own.byRole} rows=${byRole.map((sums) => [own.roles[sums.role], sums])} />
        <${Group} of=${own.byDirection} rows=${byDirection.map((sums) => [own.directions[sums.direction], sums])} />
        <${Group} of=${own.byTimeHeld} rows=${byTimeHeld.map((sums) => [heldWords(sums.underSecs), sums])} />
        <${Group} of=${own.byMonth} rows=${byMonth.map((sums) => [monthName(sums.month), sums])} />
        <${Group} of=${own.byPlayer} rows=${byPlayer.slice(0, PLAYERS_SHOWN).map((sums) => [sums.player, sums])} />
      </table>
    </div>
  `
}

const Group = ({ of, rows }: { of: string; rows: readonly (readonly [string, Sums])[] }) => html`
  <tbody>
    <tr>
      <th scope="rowgroup" colspan="4"><small>${of}</small></th>
    </tr>
    ${rows.map(([what, sums]) => html`<${Row} what=${what} sums=${sums} />`)}
  </tbody>
`

const Row = ({ what, sums: { trades, wins, pnl } }: { what: string; sums: Sums }) => html`
  <tr>
    <th scope="row">${what}</th>
    <td class="num">${trades}</td>
    <td class="num">${share(wins / trades)}</td>
    <td class="num ${way(pnl)}">${signed(pnl)}</td>
  </tr>
`

function heldWords(underSecs: number | null): string {
  if (underSecs === null) return own.longer
  return underSecs === 3_600 ? own.underAnHour : plural(underSecs / 60, own.under)
}
