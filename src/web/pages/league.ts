/** Leaderboards by ROI and PnL, district standings and the weekly spinner. */
import { signal } from '@preact/signals'
import type { BoardName } from '../client/api.ts'
import type { BoardEntry, Purse, SpinnerWeek } from '../client/wire.ts'
import { now } from '../server-clock.ts'
import { dayTime, percent, signed, way } from '../format.ts'
import { html } from '../html.ts'
import { LeagueTable, PrivateLeagues } from '../parts/private-leagues.ts'
import { WeekRecap } from '../parts/recap.ts'
import { Season } from '../parts/season.ts'
import { Tournaments } from '../parts/tournaments.ts'
import { section } from '../route.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { api, user } from '../session.ts'

type Choice = 'all' | 'district' | 'friends'

const choice = signal<Choice>('all')
const measure = signal<'roi' | 'pnl'>('roi')
const contest = signal<Purse>('main')

const CHOICES: readonly (readonly [Choice, string])[] = [
  ['all', 'All users'],
  ['district', 'My district'],
  ['friends', 'Friends'],
]

/** What is earned on recordings is ranked apart. */
const CONTESTS: readonly (readonly [Purse, string])[] = [
  ['main', 'The game'],
  ['practice', 'Practice'],
]

function boardName(): BoardName {
  switch (choice.value) {
    case 'all':
      return measure.value === 'roi' ? 'roi/global' : 'global'
    case 'friends':
      return measure.value === 'roi' ? 'roi/friends' : 'friends'
    case 'district':
      return `roi/district/${user.value?.districtId ?? 1}`
    default:
      return choice.value satisfies never
  }
}

export const League = () => html`
  <div class="page">
    <h1>League</h1>
    <div class="columns">
      <div>
        ${section.value === '' ? html`<${MyRank} /><${Boards} /><${WeekRecap} />` : html`<${LeagueTable} key=${section.value} id=${section.value} />`}
      </div>
      <div><${Season} /><${Tournaments} /><${PrivateLeagues} /><${Spinner} /><${Districts} /></div>
    </div>
  </div>
`

function MyRank() {
  const { answer } = useRequest(() => api.myRank(contest.value), [contest.value])
  if (answer === null) return null
  if (!answer.ranked) {
    return html`<p class="card note">Close your first position to join the board.</p>`
  }
  const { rank, total, roiPct, pnl, winRate, next } = answer
  return html`
    <section class="card mine" aria-label="Your rank">
      <p class="rank"><b>${rank}</b> of ${total}</p>
      <dl>
        <div>
          <dt>ROI</dt>
          <dd class="num ${way(roiPct)}">${percent(roiPct)}</dd>
        </div>
        <div>
          <dt>PnL</dt>
          <dd class="num ${way(pnl)}">${signed(pnl)}</dd>
        </div>
        <div>
          <dt>Wins</dt>
          <dd class="num">${Math.round(winRate * 100)} %</dd>
        </div>
      </dl>
      ${next === null ? null : html`<p class="hint">${percent(next.gap).replace('+', '')} more to rank ${next.rank}</p>`}
    </section>
  `
}

function Boards() {
  const { answer, trouble } = useRequest(
    () => api.board(boardName(), contest.value),
    [choice.value, measure.value, contest.value],
  )
  return html`
    <section class="card" aria-labelledby="board-title">
      <header>
        <h2 id="board-title">Leaderboard</h2>
        ${
          choice.value === 'district'
            ? null
            : html`<div class="choice" role="group" aria-label="Measure">
                <button aria-pressed=${measure.value === 'roi'} onClick=${() => (measure.value = 'roi')}>ROI</button>
                <button aria-pressed=${measure.value === 'pnl'} onClick=${() => (measure.value = 'pnl')}>PnL</button>
              </div>`
        }
      </header>
      <div class="choice spread" role="group" aria-label="Who">
        ${CHOICES.map(
          ([key, label]) =>
            html`<button aria-pressed=${choice.value === key} onClick=${() => (choice.value = key)}>${label}</button>`,
        )}
      </div>
      <div class="choice spread" role="group" aria-label="Contest">
        ${CONTESTS.map(
          ([key, label]) =>
            html`<button aria-pressed=${contest.value === key} onClick=${() => (contest.value = key)}>
              ${label}
            </button>`,
        )}
      </div>
      ${
        measure.value === 'roi'
          ? html`<p class="hint">
              ROI counts what matches did to your players, over at least 50,000 units of margin: one lucky trade does
              not lead. Void positions count nowhere.
            </p>`
          : null
      }
      ${answer === null ? html`<${Waiting} trouble=${trouble} />` : html`<${Table} entries=${answer.entries} />`}
    </section>
  `
}

function Table({ entries }: { entries: readonly BoardEntry[] }) {
  if (entries.length === 0) return html`<p class="empty">No closed positions yet. Be the first.</p>`
  return html`
    <div class="scroll board" tabindex="0" role="region" aria-label="Ranks">
      <table>
        <thead>
          <tr>
            <th scope="col">Rank</th>
            <th scope="col">User</th>
            <th scope="col">ROI</th>
            <th scope="col">PnL</th>
            <th scope="col">Wins</th>
          </tr>
        </thead>
        <tbody>
          ${entries.map(
            ({ rank, userId, username, roiPct, pnl, winRate, bot, isMe }) => html`
              <tr key=${userId} class=${isMe ? 'me' : ''}>
                <td class="num">${rank}</td>
                <th scope="row">${username}${bot ? ' (bot)' : ''}${isMe ? ' (you)' : ''}</th>
                <td class="num ${way(roiPct)}">${percent(roiPct)}</td>
                <td class="num ${way(pnl)}">${signed(pnl)}</td>
                <td class="num">${Math.round(winRate * 100)} %</td>
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `
}

function Districts() {
  const { answer, trouble } = useRequest(() => api.standings())
  return html`
    <section class="card" aria-labelledby="districts-title">
      <header><h2 id="districts-title">Districts</h2></header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : html`<ol class="standings">
              ${answer.districts.map(
                ({ districtId, rank, name, members, score }) => html`
                  <li key=${districtId} class=${districtId === user.value?.districtId ? 'me' : ''}>
                    <span class="num">${rank ?? '–'}</span>
                    <b>${name}</b>
                    <small>${members} ranked</small>
                    <span class="num ${way(score ?? 0)}">${score === null ? '–' : percent(score)}</span>
                  </li>
                `,
              )}
            </ol>`
      }
    </section>
  `
}

function Spinner() {
  const { answer, trouble } = useRequest(() => api.spinner())
  const days = answer === null ? 0 : Math.max(0, (Date.parse(answer.endsAt) - now.value) / 86_400_000)
  return html`
    <section class="card spinner" aria-labelledby="spinner-title">
      <header><h2 id="spinner-title">Spinner of the week</h2></header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : html`
              <div class="inside">
                <p>${leaders(answer)}</p>
                <p class="hint">
                  ${answer.status === 'open' ? `Decided in ${days < 1 ? `${Math.ceil(days * 24)} h` : `${Math.ceil(days)} days`}. ` : ''}
                  A tie is decided by a draw, from a seed and the last settlement prices of the week. Hash of the seed:
                  <code title=${answer.seedHash}>${answer.seedHash?.slice(0, 16)}…</code>
                </p>
                ${
                  answer.previous?.winner === undefined
                    ? null
                    : html`<p>
                        Last week: <b>${answer.previous.winner.username}</b>
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
  if (winner !== undefined) return html`Won by <b>${winner.username}</b>.`
  if (candidates.length === 0)
    return 'No leader yet. The best ROI of the week wins, among all who have closed enough positions on different players.'
  const names = candidates.map(({ username }) => username).join(', ')
  const [first] = candidates
  return html`
    ${status === 'tied' || candidates.length > 1 ? 'Level at the top: ' : 'In the lead: '}<b>${names}</b>
    <span class="num ${way(first?.roiPct ?? 0)}"> ${percent(first?.roiPct ?? 0)}</span>
  `
}

function PastWinners() {
  const { answer } = useRequest(() => api.spinnerHistory())
  const weeks = (answer?.weeks ?? []).filter(({ winner }) => winner !== undefined)
  if (weeks.length === 0) return null
  return html`
    <details>
      <summary>Earlier weeks</summary>
      <ul>
        ${weeks.map(({ week, winner, endsAt }) => html`<li key=${week}>${week}: <b>${winner?.username}</b> <small>to ${dayTime(endsAt)}</small></li>`)}
      </ul>
    </details>
  `
}
