/** Leaderboards by ROI and PnL, district standings, and the cards of features. */
import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import type { BoardName } from '../client/api.ts'
import type { Board, NextRank, Purse } from '../client/wire.ts'
import { history } from '../account.ts'
import { PAGE_FEATURES } from '../features/index.ts'
import { percent, share, signed, way } from '../format.ts'
import { html } from '../html.ts'
import { section } from '../route.ts'
import { RankTable } from '../parts/rank-table.ts'
import { toTitle } from '../parts/to-title.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { api, user } from '../session.ts'
import { rich, say, words } from '../words.ts'

type Choice = 'all' | 'district' | 'friends'

const choice = signal<Choice>('all')
const measure = signal<'roi' | 'pnl'>('roi')
const contest = signal<Purse>('main')

const CHOICES: readonly (readonly [Choice, string])[] = [
  ['all', words.league.everybody],
  ['district', words.league.district],
  ['friends', words.league.friends],
]

/** What is earned on recordings is ranked apart. */
const CONTESTS: readonly (readonly [Purse, string])[] = [
  ['main', words.league.game],
  ['practice', words.purse.practice],
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

type Place = 'league' | 'leagueEnd' | 'ranks'

const cardsIn = (place: Place) =>
  PAGE_FEATURES.flatMap(({ cards }) => cards?.[place] ?? []).map((Card) => html`<${Card} />`)

const itemCards = (id: string) =>
  PAGE_FEATURES.flatMap(({ cards }) => cards?.leagueItem ?? []).map((Card) => html`<${Card} key=${id} id=${id} />`)

export const League = () => html`
  <div class="page">
    <h1>${words.league.title}</h1>
    <div class="columns">
      <div>
        ${section.value === '' ? html`<${MyRank} /><${Boards} />${cardsIn('ranks')}` : itemCards(section.value)}
      </div>
      <div>${cardsIn('league')}${cardsIn('leagueEnd')}<${Districts} /></div>
    </div>
  </div>
`

function MyRank() {
  const { answer } = useRequest(() => api.myRank(contest.value), [contest.value])
  if (answer === null) return null
  if (!answer.ranked) {
    const hasClosed = history.value?.some(({ purse }) => purse === contest.value) ?? true
    return hasClosed || user.value?.hiddenFromBoards === true
      ? null
      : html`<p class="card note">${words.league.join}</p>`
  }
  const { rank, total, roiPct, pnl, winRate, next } = answer
  return html`
    <section class="card mine" aria-label=${words.league.yourRank}>
      <p class="rank">${rich(words.league.rankOf, { rank: html`<b>${rank}</b>`, total })}</p>
      <dl>
        <div>
          <dt>${words.league.roi}</dt>
          <dd class="num ${way(roiPct)}">${percent(roiPct)}</dd>
        </div>
        <div>
          <dt>${words.league.pnl}</dt>
          <dd class="num ${way(pnl)}">${signed(pnl)}</dd>
        </div>
        <div>
          <dt>${words.league.wins}</dt>
          <dd class="num">${share(winRate)}</dd>
        </div>
      </dl>
      ${next === null ? null : html`<p class="hint">${nextWords(next)}</p>`}
    </section>
  `
}

const nextWords = ({ gap, rank }: NextRank): string =>
  way(gap) === 'flat'
    ? say(words.league.level, { rank })
    : say(words.league.moreTo, { gap: percent(gap).replace('+', ''), rank })

function Boards() {
  const { answer, trouble } = useRequest(
    () => api.board(boardName(), contest.value),
    [choice.value, measure.value, contest.value],
  )
  return html`
    <section class="card" aria-labelledby="board-title">
      <header>
        <h2 id="board-title">${words.league.board}</h2>
        ${
          choice.value === 'district'
            ? null
            : html`<div class="choice" role="group" aria-label=${words.league.measure}>
                <button aria-pressed=${measure.value === 'roi'} onClick=${() => (measure.value = 'roi')}>
                  ${words.league.roi}
                </button>
                <button aria-pressed=${measure.value === 'pnl'} onClick=${() => (measure.value = 'pnl')}>
                  ${words.league.pnl}
                </button>
              </div>`
        }
      </header>
      <div class="choice spread" role="group" aria-label=${words.league.who}>
        ${CHOICES.map(
          ([key, label]) =>
            html`<button aria-pressed=${choice.value === key} onClick=${() => (choice.value = key)}>${label}</button>`,
        )}
      </div>
      <div class="choice spread" role="group" aria-label=${words.league.contest}>
        ${CONTESTS.map(
          ([key, label]) =>
            html`<button aria-pressed=${contest.value === key} onClick=${() => (contest.value = key)}>
              ${label}
            </button>`,
        )}
      </div>
      ${measure.value === 'roi' ? html`<p class="hint">${words.league.roiHint}</p>` : null}
      ${answer === null ? html`<${Waiting} trouble=${trouble} />` : html`<${Table} board=${answer} />`}
    </section>
  `
}

/** Rows of a board before its user asks for the rest. On a phone much stands below it. */
const FIRST_ROWS = 10

function Table({ board: { entries, total } }: { board: Board }) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? entries : entries.filter(({ isMe }, at) => at < FIRST_ROWS || isMe)
  if (entries.length === 0) return html`<p class="empty">${words.league.noneClosed}</p>`
  return html`
    <${RankTable} entries=${shown} />
    ${
      shown.length < entries.length
        ? html`<p class="inside first">
            <button class="small" onClick=${(event: Event) => (toTitle(event), setWhole(true))}>
              ${say(words.league.wholeBoard, { n: entries.length })}
            </button>
          </p>`
        : total > entries.length
          ? html`<p class="hint inside">${say(words.league.first, { n: entries.length, total })}</p>`
          : null
    }
  `
}

function Districts() {
  const { answer, trouble } = useRequest(() => api.standings())
  return html`
    <section class="card" aria-labelledby="districts-title">
      <header><h2 id="districts-title">${words.league.districts}</h2></header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : html`<ol class="standings">
              ${answer.districts.map(
                ({ districtId, rank, name, members, score }) => html`
                  <li key=${districtId} class=${districtId === user.value?.districtId ? 'me' : ''}>
                    <span class="num">${rank ?? '–'}</span>
                    <b>${name}</b>
                    <small>${say(words.league.ranked, { n: members })}</small>
                    <span class="num ${way(score ?? 0)}">${score === null ? '–' : percent(score)}</span>
                  </li>
                `,
              )}
            </ol>`
      }
    </section>
  `
}
