/** The score of the selected match, and a switch to the others. */
import type { ComponentChildren } from 'preact'
import type { Match } from '../client/wire.ts'
import { dayTime, timeOfDay } from '../format.ts'
import { html } from '../html.ts'
import { kitsOf } from '../kits.ts'
import { matches, selectedMatch, selectedMatchId, showMatch, windowStatus } from '../market.ts'
import { now } from '../server-clock.ts'
import { Crest } from './crest.ts'
import { say, words } from '../words.ts'

/** The provider's names of what goes on, as the phases of the market know them. */
const STATES: Readonly<Record<string, string>> = {
  TBA: words.match.dateOpen,
  PENDING: words.match.dateOpen,
  DELAYED: words.match.delayed,
  INPLAY_1ST_HALF: words.match.firstHalf,
  HT: words.match.halfTime,
  INPLAY_2ND_HALF: words.match.secondHalf,
  EXTRA_TIME_BREAK: words.match.beforeExtra,
  INPLAY_ET: words.match.extra,
  INPLAY_ET_2ND_HALF: words.match.extraSecond,
  INPLAY_ET_SECOND_HALF: words.match.extraSecond,
  PEN_BREAK: words.match.beforePens,
  INPLAY_PENALTIES: words.match.penalties,
  BREAK: words.match.break,
  FT: words.match.fullTime,
  AET: words.match.afterExtra,
  FT_PEN: words.match.afterPens,
  FINISHED: words.match.fullTime,
  NS: words.match.notStarted,
  POSTPONED: words.match.postponed,
  CANCELLED: words.match.cancelled,
  DELETED: words.match.cancelled,
  ABANDONED: words.match.abandoned,
  AWARDED: words.match.awarded,
  WALKOVER: words.match.walkover,
  WO: words.match.walkover,
  VOID: words.match.void,
  SUSPENDED: words.match.suspended,
  INTERRUPTED: words.match.interrupted,
}

/** States in which nothing more happens: the market knows them as ended, final or off. */
const OVER: ReadonlySet<string> = new Set([
  'FT',
  'AET',
  'FT_PEN',
  'FINISHED',
  'POSTPONED',
  'CANCELLED',
  'DELETED',
  'ABANDONED',
  'AWARDED',
  'WALKOVER',
  'WO',
  'VOID',
])

export const isOver = ({ state }: Pick<Match, 'state'>): boolean => OVER.has(state ?? '')

/** The state of the match, with the score of a shoot-out. */
export function stateWords({
  state,
  startsAt,
  home,
  away,
}: Pick<Match, 'state' | 'startsAt' | 'home' | 'away'>): string {
  const stated =
    state === 'NS'
      ? say(words.match.kickOff, { time: isToday(startsAt) ? timeOfDay(startsAt) : dayTime(startsAt) })
      : (STATES[state ?? ''] ?? words.match.unknown)
  if (home.shootout === null && away.shootout === null) return stated
  return `${stated}: ${home.shootout ?? 0}–${away.shootout ?? 0}`
}

const isToday = (at: string): boolean => new Date(at).toDateString() === new Date(now.peek()).toDateString()

const WINDOWS = { OPEN: words.match.tradingOpen, SUSPENDED: words.match.suspended, CLOSED: words.match.closed }

/** The match, and why a price on the screen cannot be traded: in a line that is there, so that nothing jumps. */
export function Scoreboard({ doubt }: { doubt: ComponentChildren }) {
  const match = selectedMatch.value
  if (match === null) return doubt === null ? null : html`<p class="doubt" role="alert">${doubt}</p>`
  const status = windowStatus.value ?? match.tradeWindow.status
  return html`
    <${Score} match=${match} doubt=${doubt}>
      <${Switch} />
      <span class="window ${status.toLowerCase()}"><i></i>${WINDOWS[status]}</span>
    <//>
  `
}

interface ScoreProps {
  readonly match: Omit<Match, 'tradeWindow'>
  readonly doubt?: ComponentChildren
  /** Beside the name of the competition. */
  readonly children?: ComponentChildren
}

/** A match as its score. */
export function Score({ match, doubt = null, children }: ScoreProps) {
  const { home, away, minute } = match
  // A label needs a role, and both need a score.
  const scored =
    home.score === null || away.score === null
      ? {}
      : { role: 'img', 'aria-label': say(words.match.score, { home: home.score, away: away.score }) }
  const kits = kitsOf(home.name, away.name)
  return html`
    <section class="scoreboard" aria-label=${words.match.label}>
      <div class="caption">
        <span>${match.league}</span>
        ${children}
      </div>
      <div class="score">
        <b class="team home">${home.name} <${Crest} kit=${kits.home} /></b>
        <b class="goals" ...${scored}> <span>${home.score ?? '–'}</span><i></i><span>${away.score ?? '–'}</span> </b>
        <b class="team away"><${Crest} kit=${kits.away} /> ${away.name}</b>
      </div>
      <p class="state">
        ${minute === null ? '' : html`<b>${minute}′</b> `}${stateWords(match)}${doubt === null ? null : html`<span role="alert">${doubt}</span>`}
      </p>
    </section>
  `
}

function Switch() {
  const others = matches.value.filter(
    ({ id, tradeWindow }) => id === selectedMatchId.value || tradeWindow.status !== 'CLOSED',
  )
  if (others.length < 2) return null
  return html`
    <select
      aria-label=${words.match.another}
      value=${selectedMatchId.value}
      onChange=${(event: Event) => showMatch(Number((event.target as HTMLSelectElement).value))}
    >
      ${others.map(
        ({ id, home, away }) =>
          html`<option value=${id}>${home.name} ${home.score ?? 0}–${away.score ?? 0} ${away.name}</option>`,
      )}
    </select>
  `
}
