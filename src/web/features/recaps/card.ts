/** What a match or a week made of the user's positions, as a card that can be shared. */
import { useState } from 'preact/hooks'
import type { Recap, RecapTrade } from '../../client/wire.ts'
import type { NoticeProps } from '../feature.ts'
import { arrow, signed, timeOfDay, way } from '../../format.ts'
import { html } from '../../html.ts'
import { now } from '../../server-clock.ts'
import { api } from '../../session.ts'
import { toast } from '../../toasts.ts'
import { useRequest } from '../../parts/use-request.ts'
import { moveSentence } from '../../served.ts'
import { locale, plural, say, wordsOf } from '../../words.ts'
import { said } from './words.ts'

const own = wordsOf(said)
const list = new Intl.ListFormat(locale)

/** What positions came to, to look at and to share. */
export function Card({ recap, address }: { recap: Recap; address: string }) {
  const { title, result, trades, wins, best, worst, rank, final } = recap
  const [isBusy, setBusy] = useState(false)
  const share = async (): Promise<void> => {
    setBusy(true)
    try {
      await shareCard(recap, address)
    } catch {
      toast({ tone: 'bad', title: own.notShared, text: own.noPicture })
    }
    setBusy(false)
  }
  return html`
    <section class="full-time" aria-label=${recap.week === null ? own.yourMatch : own.yourWeek}>
      <p class="score">${title}</p>
      <p class="total num ${way(result)}"><i aria-hidden="true">${arrow(result)}</i> ${signed(result)}</p>
      <p class="hint">
        ${plural(trades, own.count, { wins })}${final ? '' : own.soFar}
        ${rank === null ? null : html` · ${rankWords(rank)}`}
      </p>
      ${rank === null || rank.passed.length === 0 ? null : html`<p class="hint">${say(own.passed, { who: list.format(rank.passed) })}</p>`}
      <${Curve} recap=${recap} />
      <${Extremes} best=${best} worst=${worst} />
      <button class="small" disabled=${isBusy} onClick=${() => void share()}>${own.share}</button>
    </section>
  `
}

function rankWords({ before, after }: NonNullable<Recap['rank']>): string {
  if (after === null) return own.notRanked
  if (before === null) return say(own.rank, { n: after })
  return before === after ? say(own.still, { n: after }) : say(own.rankTo, { before, after })
}

/** The best and the worst trade, each with why. */
export const Extremes = ({ best, worst }: Pick<Recap, 'best' | 'worst'>) => html`
  <dl class="extremes">
    ${best === null ? null : html`<${Line} what=${own.best} trade=${best} />`}
    ${worst === null ? null : html`<${Line} what=${own.worst} trade=${worst} />`}
  </dl>
`

const Line = ({ what, trade: { player, pnl, moved } }: { what: string; trade: RecapTrade }) => html`
  <div>
    <dt>${what}</dt>
    <dd>${player} <b class="num ${way(pnl)}">${signed(pnl)}</b></dd>
    ${moved === null ? null : html`<dd class="hint">${moveSentence(moved)}</dd>`}
  </div>
`

const WIDTH = 320
const HEIGHT = 80

type Course = Pick<Recap, 'curve' | 'start' | 'matchId'>

/** The worth of the purse over time: of a match with what is open, of anything else by what was closed. */
export function Curve({ recap: { curve, start, matchId } }: { recap: Course }) {
  const [first, last] = [curve[0], curve.at(-1)]
  if (first === undefined || last === undefined || curve.length < 3) return null
  const values = curve.map(({ value }) => value)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const [begin, end] = [Date.parse(first.at), Date.parse(last.at)]
  const x = (at: string): string => (((Date.parse(at) - begin) / Math.max(1, end - begin)) * WIDTH).toFixed(1)
  const y = (value: number): string =>
    (HEIGHT - 2 - ((value - low) / Math.max(1e-6, high - low)) * (HEIGHT - 4)).toFixed(1)
  const to = (at: string, value: number): string =>
    matchId === null ? `H${x(at)}V${y(value)}` : `L${x(at)} ${y(value)}`
  const path = curve.map(({ at, value }, n) => (n === 0 ? `M0 ${y(value)}` : to(at, value))).join('')
  return html`
    <figure class="curve">
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
        <path class="start" d=${`M0 ${y(start)}H${WIDTH}`} />
        <path d=${path} />
      </svg>
      ${
        matchId === null
          ? null
          : html`<figcaption class="hint num">
              <span>${timeOfDay(first.at)}</span>
              <span>${say(own.between, { high: signed(high - start), low: signed(low - start) })}</span>
              <span>${timeOfDay(last.at)}</span>
            </figcaption>`
      }
    </figure>
  `
}

/** With the share sheet of the phone where there is one, otherwise as a download. The link invites. */
async function shareCard({ title, purse }: Recap, address: string): Promise<void> {
  // First what renews the session: the picture is asked for without.
  const { url } = await api.referrals()
  const answer = await fetch(`${address}/card?purse=${purse}&type=png`)
  if (!answer.ok) throw new Error(`the card was answered ${answer.status}`)
  const picture = await answer.blob()
  const file = new File([picture], 'touchline.png', { type: 'image/png' })
  const data = { files: [file], title: 'Touchline', text: title, url: new URL(url, location.origin).href }
  if (typeof navigator.canShare === 'function' && navigator.canShare(data)) {
    try {
      return await navigator.share(data)
    } catch (error) {
      // The user has closed it. Anything else, as a press that was too long ago, leaves the download.
      if (error instanceof DOMException && error.name === 'AbortError') return
    }
  }
  const link = document.createElement('a')
  link.href = URL.createObjectURL(picture)
  link.download = 'touchline.png'
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/** Beside a notice: the way to the result of its match. Notices of before say no match. */
export const MatchOf = ({ type, data: { matchId, purse } }: NoticeProps) =>
  type === 'settlement' && typeof matchId === 'number'
    ? html`<a class="small" href=${`#/match/${matchId}${typeof purse === 'string' ? `/${purse}` : ''}`}
        >${own.showMatch}</a
      >`
    : null

const DAY_MS = 86_400_000

/** The name of the week that a moment lies in (ISO 8601): it belongs to the year of its Thursday. */
function weekOf(at: number): string {
  const thursday = at - ((new Date(at).getUTCDay() + 6) % 7) * DAY_MS + 3 * DAY_MS
  const year = new Date(thursday).getUTCFullYear()
  const number = Math.floor((thursday - Date.UTC(year, 0)) / (7 * DAY_MS)) + 1
  return `${year}-W${String(number).padStart(2, '0')}`
}

/** The user's week in the game, and the one before. Absent while nothing was closed in either. */
export function WeekRecap() {
  const [chosen, choose] = useState<0 | 1 | null>(null)
  const [current, before] = [weekOf(now.peek()), weekOf(now.peek() - 7 * DAY_MS)]
  const { answer } = useRequest(() => Promise.all([api.weekRecap(current), api.weekRecap(before)]), [current])
  if (answer === null || answer.every(({ curve }) => curve.length === 0)) return null
  const weeksAgo = chosen ?? (answer[0].curve.length === 0 ? 1 : 0)
  const week = weeksAgo === 0 ? current : before
  const title = say(own.week, { week: week.slice(-2), year: week.slice(0, 4) })
  return html`
    <section class="card" aria-labelledby="week-title">
      <header>
        <h2 id="week-title">${own.yourWeek}</h2>
        <div class="choice" role="group" aria-label=${own.whichWeek}>
          <button aria-pressed=${weeksAgo === 0} onClick=${() => choose(0)}>${own.this}</button>
          <button aria-pressed=${weeksAgo === 1} onClick=${() => choose(1)}>${own.last}</button>
        </div>
      </header>
      <div class="inside">
        <${Card} recap=${{ ...answer[weeksAgo], title }} address=${`/api/recaps/weeks/${week}`} />
      </div>
    </section>
  `
}
