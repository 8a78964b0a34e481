/** Who has made most of the match on the screen, and the user among their neighbours. */
import { useState } from 'preact/hooks'
import type { MatchTable } from '../../client/wire.ts'
import { html } from '../../html.ts'
import { RankTable } from '../../parts/rank-table.ts'
import { useRepeated, useRequest, Waiting } from '../../parts/use-request.ts'
import { api, user } from '../../session.ts'
import { say, words, wordsOf } from '../../words.ts'
import { said } from './words.ts'

const own = wordsOf(said)
const EVERY_MS = 10_000
const TOP = 5
const GROUPS = [
  ['all', words.league.everybody],
  ['district', words.league.district],
  ['friends', words.league.friends],
  ['leagues', own.leagues],
] as const

export function MatchRanks({ matchId }: { matchId: number }) {
  const [group, setGroup] = useState<MatchTable['group']>('all')
  const { answer, trouble, again } = useRequest(() => api.matchTable(matchId, group, TOP), [matchId, group])
  useRepeated(again, EVERY_MS)
  return html`
    <section class="card" aria-labelledby="match-ranks-title">
      <header>
        <h2 id="match-ranks-title">${own.title}</h2>
        ${answer !== null && answer.me !== null ? html`<small>${say(own.mine, { rank: answer.me.rank, total: answer.total })}</small>` : null}
      </header>
      <div class="choice spread" role="group" aria-label=${words.league.who}>
        ${GROUPS.map(
          ([key, label]) =>
            html`<button aria-pressed=${group === key} onClick=${() => setGroup(key)}>${label}</button>`,
        )}
      </div>
      ${answer !== null ? html`<${Ranks} table=${answer} />` : html`<${Waiting} trouble=${trouble} />`}
    </section>
  `
}

function Ranks({ table: { entries, around, me, final } }: { table: MatchTable }) {
  if (entries.length === 0) return html`<p class="empty">${own.none}</p>`
  const top = new Set(entries.map(({ userId }) => userId))
  const near = around.filter(({ userId }) => !top.has(userId))
  return html`
    <p class="hint inside">
      ${own.about} ${final ? own.final : me === null && user.value?.hiddenFromBoards !== true ? own.unranked : ''}
    </p>
    <${RankTable} entries=${entries} apart=${{ title: own.between, entries: near }} />
  `
}
