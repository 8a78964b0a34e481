/** What is known of a player before kick-off: the start price with why, and what the last matches made of it. */
import type { PlayerProfile } from '../../client/wire.ts'
import { percent, units, way } from '../../format.ts'
import { html } from '../../html.ts'
import { instruments, matches } from '../../market.ts'
import { useRequest } from '../../parts/use-request.ts'
import { api } from '../../session.ts'
import { say, wordsOf } from '../../words.ts'
import type { PlayerProps } from '../feature.ts'
import { said } from './words.ts'

const own = wordsOf(said)

/** Below the chart until the match has kicked off. */
export function Beforehand({ instrumentId, place }: PlayerProps) {
  const matchId = instruments.value.get(instrumentId)?.fixtureId
  const match = matches.value.find(({ id }) => id === matchId)
  const isBefore = match?.tradeWindow.reason === 'the match has not kicked off'
  return place === 'chart' && isBefore ? html`<${Known} id=${instrumentId} />` : null
}

function Known({ id }: { id: string }) {
  const { answer } = useRequest(() => api.profile(id))
  if (answer === null) return null
  return html`
    <div class="beforehand">
      ${answer.start === null ? null : html`<p class="hint">${startWords(answer.start)}</p>`}
      <${Form} matches=${answer.matches} />
    </div>
  `
}

/** The last matches, oldest first, each by what it made of the price. */
function Form({ matches: played }: { matches: PlayerProfile['matches'] }) {
  if (played.length === 0) return null
  return html`
    <p class="form">
      <span>${own.form}</span>
      ${played.toReversed().map(({ matchId, from, to }) => {
        const changed = (to / from - 1) * 100
        return html`<b class="num ${way(changed)}" key=${matchId}>${percent(changed)}</b>`
      })}
    </p>
  `
}

/** Why the start price is what it is. */
export function startWords({ price, last, anchor, expectedGoals }: NonNullable<PlayerProfile['start']>): string {
  const facts = { price: units(price), last: units(last ?? anchor), anchor: units(anchor) }
  const because = say(last === null ? own.startAlone : own.startFrom, facts)
  return expectedGoals === null ? because : `${because} ${say(own.expects, { n: units(expectedGoals) })}`
}
