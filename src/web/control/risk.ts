/** The house's risk: what is open, who wins and loses today, and who opens ahead of moves. */
import { dayTime, percent, signed, units } from '../format.ts'
import { html } from '../html.ts'
import { useRepeated, useRequest, Waiting } from '../parts/use-request.ts'
import { matches } from '../market.ts'
import { operations, type Risk } from './operations.ts'
import { type Rows, Table } from './table.ts'

const AGAIN_MS = 15_000

interface ListProps {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: Rows
}

export function RiskView() {
  const { answer, trouble, again } = useRequest(() => operations.risk())
  useRepeated(again, AGAIN_MS)
  if (answer === null) return html`<section class="card"><${Waiting} trouble=${trouble} /></section>`
  const { asOf, houseToday, exposures, winners, losers, markOuts, groups } = answer
  const results = (users: typeof winners) => users.map((one) => [person(one), signed(one.pnl), one.closes])
  return html`
    <p>
      As of ${dayTime(asOf)}. The house has ${houseToday < 0 ? 'lost' : 'earned'} ${units(Math.abs(houseToday))} today.
    </p>
    <${List}
      title="Open by match"
      columns=${['Match', '#Positions', '#Long', '#Short', '#Margin', '#House today']}
      rows=${byMatch(exposures).map((one) => [one.name, one.positions, units(one.long), units(one.short), units(one.margin), signed(one.houseToday)])}
    />
    <${List}
      title="Open by player"
      columns=${['Player', '#Positions', '#Long', '#Short', '#Margin', '#House today']}
      rows=${exposures.map((one) => [one.name, one.positions, units(one.long), units(one.short), units(one.margin), signed(one.houseToday)])}
    />
    <${List} title="Winners today" columns=${['User', '#P&L', '#Closes']} rows=${results(winners)} />
    <${List} title="Losers today" columns=${['User', '#P&L', '#Closes']} rows=${results(losers)} />
    <${List}
      title="Opens ahead of moves"
      columns=${['User', '#Openings', '#After 10 s', '#After 60 s']}
      rows=${markOuts.map((one) => [person(one), one.openings, percent(one.after10s), percent(one.after60s)])}
    />
    <${List}
      title="Reported together"
      columns=${['Alert', 'When', 'Users']}
      rows=${groups.map(({ finding, at, users }) => [finding.replaceAll('_', ' '), dayTime(at), html`${users.map((one) => html`${person(one)} `)}`])}
    />
  `
}

/** Sums over the players of each match. */
function byMatch(exposures: Risk['exposures']) {
  return [...Map.groupBy(exposures, ({ matchId }) => matchId)].map(([id, players]) => {
    const sum = (of: (one: Risk['exposures'][number]) => number): number =>
      players.reduce((all, one) => all + of(one), 0)
    const match = matches.value.find((one) => one.id === id)
    return {
      name: match === undefined ? `Match ${id}` : `${match.home.name} – ${match.away.name}`,
      positions: sum((one) => one.positions),
      long: sum((one) => one.long),
      short: sum((one) => one.short),
      margin: sum((one) => one.margin),
      houseToday: sum((one) => one.houseToday),
    }
  })
}

const person = ({ userId, username }: { readonly userId: string; readonly username: string }) =>
  html`<a href=${`#/control/users/${userId}`}>${username}</a>`

function List({ title, columns, rows }: ListProps) {
  const id = `risk-${title.toLowerCase().replaceAll(' ', '-')}`
  return html`
    <section class="card" aria-labelledby=${id}>
      <header><h2 id=${id}>${title}</h2></header>
      ${
        rows.length === 0
          ? html`<p class="empty">Nothing.</p>`
          : html`<${Table} label=${`${title}: list`} columns=${columns} rows=${rows} />`
      }
    </section>
  `
}
