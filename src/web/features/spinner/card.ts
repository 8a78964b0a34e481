/** The leaders of the week, and who won the weeks before. */
import { dayTime, percent, way } from '../../format.ts'
import { html } from '../../html.ts'
import { useRequest, Waiting } from '../../parts/use-request.ts'
import { now } from '../../server-clock.ts'
import { api } from '../../session.ts'
import { plural, rich, say, words, wordsOf } from '../../words.ts'
import { said } from './words.ts'

const own = wordsOf(said)

interface SpinnerCandidate {
  readonly userId: string
  readonly username: string
  readonly roiPct: number
  readonly winRate: number
  readonly trades: number
}

interface SpinnerWeek {
  readonly week: string
  readonly endsAt: string
  readonly status: 'open' | 'tied' | 'decided'
  readonly winner?: SpinnerCandidate
  readonly candidates: readonly SpinnerCandidate[]
  readonly seedHash?: string
  readonly seed?: string
}

export function Spinner() {
  const { answer, trouble } = useRequest(() =>
    api.ask<SpinnerWeek & { readonly previous: SpinnerWeek | null }>('/api/spinner/current'),
  )
  const days = answer === null ? 0 : Math.max(0, (Date.parse(answer.endsAt) - now.value) / 86_400_000)
  return html`
    <section class="card spinner" aria-labelledby="spinner-title">
      <header><h2 id="spinner-title">${own.title}</h2></header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : html`
              <div class="inside">
                <p>${leaders(answer)}</p>
                <p class="hint">
                  ${answer.status === 'open' ? `${say(own.decidedIn, { time: days < 1 ? `${Math.ceil(days * 24)} h` : plural(Math.ceil(days), words.keys.days) })} ` : ''}
                  ${own.draw}${' '} <code title=${answer.seedHash}>${answer.seedHash?.slice(0, 16)}…</code>
                </p>
                ${
                  answer.previous?.winner === undefined
                    ? null
                    : html`<p>
                        ${rich(own.lastWeek, { winner: html`<b>${answer.previous.winner.username}</b>` })}
                        <span class="num ${way(answer.previous.winner.roiPct)}">
                          ${percent(answer.previous.winner.roiPct)}</span
                        >
                      </p>`
                }
                <${PastWinners} />
              </div>
            `
      }
    </section>
  `
}

function leaders({ status, winner, candidates }: SpinnerWeek) {
  if (winner !== undefined) return rich(own.wonBy, { winner: html`<b>${winner.username}</b>` })
  if (candidates.length === 0) return own.noLeader
  const names = candidates.map(({ username }) => username).join(', ')
  const [first] = candidates
  return html`
    ${rich(status === 'tied' || candidates.length > 1 ? own.level : own.lead, { names: html`<b>${names}</b>` })}
    <span class="num ${way(first?.roiPct ?? 0)}"> ${percent(first?.roiPct ?? 0)}</span>
  `
}

function PastWinners() {
  const { answer } = useRequest(() => api.ask<{ readonly weeks: readonly SpinnerWeek[] }>('/api/spinner/history'))
  const weeks = (answer?.weeks ?? []).filter(({ winner }) => winner !== undefined)
  if (weeks.length === 0) return null
  return html`
    <details>
      <summary>${own.earlier}</summary>
      <ul>
        ${weeks.map(({ week, winner, endsAt }) => html`<li key=${week}>${week}: <b>${winner?.username}</b> <small>${say(own.to, { when: dayTime(endsAt) })}</small></li>`)}
      </ul>
    </details>
  `
}
