/** The footballers whose base rose most in the last week. */
import { ApiError } from '../../client/api.ts'
import { percent } from '../../format.ts'
import { html } from '../../html.ts'
import { useRequest, Waiting } from '../../parts/use-request.ts'
import { api } from '../../session.ts'
import { say, wordsOf } from '../../words.ts'
import { said } from './words.ts'

interface Board {
  readonly week: string
  readonly players: readonly {
    readonly rank: number
    readonly instrumentId: string
    readonly name: string
    readonly team: string
    readonly gainPct: number
  }[]
}

export const own = wordsOf(said)

/** `none`: no week has a board. */
const ask = async (): Promise<Board | 'none'> => {
  try {
    return await api.ask<Board>('/api/player-of-the-week')
  } catch (error) {
    if (error instanceof ApiError && error.code === 'NO_WEEK_YET') return 'none'
    throw error
  }
}

export function PlayerOfTheWeek() {
  const { answer, trouble } = useRequest(ask)
  return html`
    <div class="page player-of-the-week">
      <h1>${own.title}</h1>
      <section class="card">
        ${answer === null ? html`<${Waiting} trouble=${trouble} />` : html`<${Ranks} board=${answer} />`}
      </section>
    </div>
  `
}

function Ranks({ board }: { board: Board | 'none' }) {
  if (board === 'none') return html`<p class="empty">${own.none}</p>`
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label=${own.title}>
      <table>
        <caption>
          ${say(own.week, { week: board.week })}
        </caption>
        <thead>
          <tr>
            <th scope="col">${own.rank}</th>
            <th scope="col">${own.player}</th>
            <th scope="col">${own.team}</th>
            <th scope="col">${own.gain}</th>
          </tr>
        </thead>
        <tbody>
          ${board.players.map(
            ({ rank, instrumentId, name, team, gainPct }) => html`
              <tr key=${instrumentId}>
                <td class="num">${rank}</td>
                <th scope="row">${name}</th>
                <td>${team}</td>
                <td class="num">${percent(gainPct)}</td>
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `
}
