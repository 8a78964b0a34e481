/** A player: the line of their price, the last matches with what moved it, the next one, and who holds them. */
import type { PlayerProfile, PriceHistory } from '../../client/wire.ts'
import { pick } from '../../address.ts'
import { arrow, dayTime, percent, units, way } from '../../format.ts'
import { html } from '../../html.ts'
import { instruments } from '../../market.ts'
import { Causes } from '../../parts/reasons.ts'
import { useRequest, Waiting } from '../../parts/use-request.ts'
import { section } from '../../route.ts'
import { api } from '../../session.ts'
import { toast } from '../../toasts.ts'
import { plural, say, words, wordsOf } from '../../words.ts'
import type { PlayerProps } from '../feature.ts'
import { startWords } from './beforehand.ts'
import { said } from './words.ts'

const own = wordsOf(said)
const [WIDTH, HEIGHT] = [600, 120]

export const ToProfile = ({ instrumentId, place }: PlayerProps) =>
  place !== 'chart' ? null : html`<a class="toggle" href="#/player-profile/${instrumentId}">${own.allMatches}</a>`

export const View = () => html`<${Profile} key=${section.value} id=${section.value} />`

function Profile({ id }: { id: string }) {
  const profile = useRequest(() => api.profile(id))
  const line = useRequest(() => api.priceHistory(id, 'all'))
  if (profile.answer === null) {
    return html`<div class="page narrow">
      <h1>${own.player}</h1>
      <${Waiting} trouble=${profile.trouble} />
    </div>`
  }
  const { name, position, team, currentPrice, start, matches, next, holders } = profile.answer
  return html`
    <div class="page narrow profile">
      <header>
        <div>
          <h1>${name}</h1>
          <p>${words.common.roles[position]} · ${team}</p>
        </div>
        <b class="num">${units(currentPrice)}</b>
      </header>
      <div class="ways-on">
        ${instruments.value.has(id) ? html`<button class="small" onClick=${() => pick(id)}>${own.trade}</button>` : null}
        <button class="small" onClick=${() => void share(id, name)}>${own.share}</button>
      </div>
      ${line.answer === null ? null : html`<${Line} ticks=${line.answer.ticks} />`}
      ${
        start === null
          ? null
          : html`<section class="card" aria-labelledby="start-title">
              <header><h2 id="start-title">${own.start}</h2></header>
              <p class="inside">${startWords(start)}</p>
            </section>`
      }
      <section class="card" aria-labelledby="next-title">
        <header><h2 id="next-title">${own.next}</h2></header>
        <p class="inside">
          ${next === null ? own.noNext : html`<b>${next.home.name} – ${next.away.name}</b> <small>${dayTime(next.startsAt)}</small>`}
        </p>
      </section>
      <section class="card" aria-labelledby="last-title">
        <header><h2 id="last-title">${own.last}</h2></header>
        ${
          matches.length === 0
            ? html`<p class="empty">${own.noLast}</p>`
            : html`<ol class="played">
                ${matches.map((match) => html`<${Played} key=${match.matchId} match=${match} />`)}
              </ol>`
        }
      </section>
      <section class="card" aria-labelledby="holders-title">
        <header><h2 id="holders-title">${own.holders}</h2></header>
        ${
          holders.length === 0
            ? html`<p class="empty">${own.noHolders}</p>`
            : html`<ul class="holders">
                ${holders.map(
                  ({ username, direction, league }) =>
                    html`<li>
                      <b>${username}</b> <span class=${direction}>${words.common[direction]}</span>
                      <small>${league ?? own.friend}</small>
                    </li>`,
                )}
              </ul>`
        }
      </section>
    </div>
  `
}

function Played({ match }: { match: PlayerProfile['matches'][number] }) {
  const { startsAt, home, away, from, to, because, did } = match
  const changed = (to / from - 1) * 100
  return html`
    <li>
      <p>
        <b>${home.name} ${home.score ?? 0}–${away.score ?? 0} ${away.name}</b>
        <span class="num ${way(changed)}"><i aria-hidden="true">${arrow(changed)}</i> ${percent(changed)}</span>
        <small>${dayTime(startsAt)} · ${units(from)} → ${units(to)}</small>
        <small>${didWords(did)}</small>
      </p>
      <${Causes} because=${because} from=${from} />
    </li>
  `
}

function didWords({ started, goals, yellowCards, redCards }: PlayerProfile['matches'][number]['did']): string {
  const counted = [
    goals === 0 ? null : plural(goals, own.goals),
    yellowCards === 0 ? null : plural(yellowCards, own.yellowCards),
    redCards === 0 ? null : plural(redCards, own.redCards),
  ]
  return [started ? own.started : own.fromBench, ...counted.filter((part) => part !== null)].join(' · ')
}

/** All that is stored, each step as wide as every other: there is nothing to see between matches. */
function Line({ ticks }: { ticks: PriceHistory['ticks'] }) {
  const prices = ticks.map(({ price }) => price)
  if (prices.length < 2) return null
  const [low, high] = [Math.min(...prices), Math.max(...prices)]
  const y = (price: number): number => HEIGHT - ((price - low) / (high - low || 1)) * HEIGHT
  const x = (n: number): number => (n / (prices.length - 1)) * WIDTH
  const points = prices.map((price, n) => `${x(n).toFixed(1)},${y(price).toFixed(1)}`).join(' ')
  const settled = ticks.flatMap(({ cause }, n) => (cause === 'settlement' ? [x(n).toFixed(1)] : []))
  const about = say(own.between, { low: units(low), high: units(high) })
  return html`
    <figure class="life">
      <svg viewBox="0 -4 ${WIDTH} ${HEIGHT + 8}" preserveAspectRatio="none" role="img" aria-label=${about}>
        ${settled.map((at) => html`<line x1=${at} x2=${at} y1="0" y2=${HEIGHT} />`)}
        <polyline points=${points} />
      </svg>
      <figcaption class="hint">${about}</figcaption>
    </figure>
  `
}

async function share(id: string, name: string): Promise<void> {
  const url = new URL(`/player/${id}`, location.origin).href
  try {
    if (typeof navigator.share === 'function') return await navigator.share({ title: name, url })
    await navigator.clipboard.writeText(url)
    toast({ tone: 'good', title: own.copied, text: url })
  } catch (error) {
    // Closing the sheet is no failure.
    if (error instanceof DOMException && error.name === 'AbortError') return
    toast({ tone: 'bad', title: own.notCopied, text: url })
  }
}
