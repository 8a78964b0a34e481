/** Goals, cards, substitutions and VAR on the axis of the match: the home team's above it, the visitors' below. */
import type { Match, MatchEvent } from '../client/wire.ts'
import { html } from '../html.ts'
import { matchEvents, selectedMatch } from '../market.ts'
import { eventWords, minuteWords, Sign } from './match-events.ts'
import { say, words } from '../words.ts'

const FULL_TIME = 90
const EXTRA_TIME = 120
/** States with extra time played or to come; without it, what is added to a half stands at its end. */
const EXTRA = /^(INPLAY_ET|EXTRA_TIME|AET|FT_PEN|PEN_BREAK|INPLAY_PEN)/
const KINDS: ReadonlySet<MatchEvent['type']> = new Set([
  'goal',
  'own_goal',
  'penalty_goal',
  'penalty_missed',
  'substitution',
  'yellow',
  'red',
  'second_yellow',
  'var',
  'var_card',
])
/** Nearer than this, in per cent of the axis, two signs of a team would cover each other: the later one moves out. */
const NEAR = 4

export function MatchTimeline() {
  const match = selectedMatch.value
  return match === null ? null : html`<${Timeline} match=${match} events=${matchEvents.value?.events ?? []} />`
}

type Played = Pick<Match, 'minute' | 'state' | 'home' | 'away'>

export function Timeline({ match, events }: { match: Played; events: readonly MatchEvent[] }) {
  const shown = events.filter(({ type, team, minute: at }) => KINDS.has(type) && team !== null && at !== null)
  // From kick-off on, so that the first sign moves nothing below.
  if (shown.length === 0 && match.minute === null) return null
  const minute = match.minute ?? 0
  const length = EXTRA.test(match.state ?? '') ? EXTRA_TIME : FULL_TIME
  const at = (of: number): number => Math.min(100, (of / length) * 100)
  return html`
    <section class="card timeline" aria-label=${words.events.timeline}>
      ${(['home', 'away'] as const).map((side) => html`<${Side} side=${side} team=${match[side].name} events=${shown} at=${at} />`)}
      <div class="axis" aria-hidden="true">
        <i style=${{ width: `${at(minute)}%` }}></i>
        ${[0, 45, length].map((of) => html`<span class="num" style=${{ left: `${at(of)}%` }}>${of}′</span>`)}
      </div>
    </section>
  `
}

interface SideProps {
  readonly side: 'home' | 'away'
  readonly team: string
  readonly events: readonly MatchEvent[]
  readonly at: (minute: number) => number
}

function Side({ side, team: name, events, at }: SideProps) {
  const own = events.filter(({ team }) => team === side).toSorted((a, b) => (a.minute ?? 0) - (b.minute ?? 0))
  const rows: number[] = []
  const placed = own.map((event) => {
    const left = at(event.minute ?? 0)
    const free = rows.findIndex((last) => left - last >= NEAR)
    const row = free === -1 ? rows.length : free
    rows[row] = left
    return { event, left, row }
  })
  return html`
    <ol class=${side} aria-label=${name} style=${{ '--rows': Math.max(1, rows.length) }}>
      ${placed.map(
        ({ event, left, row }) => html`
          <li
            key=${event.id}
            class=${event.retracted ? 'retracted' : ''}
            style=${{ left: `${left}%`, '--row': row }}
            title=${told(event)}
          >
            <${Sign} event=${event} /><span class="sr-only">${told(event)}</span>
          </li>
        `,
      )}
    </ol>
  `
}

const told = (event: MatchEvent): string =>
  `${minuteWords(event)} ${eventWords(event)} ${event.playerName ?? ''}${event.relatedPlayerName === null || event.type !== 'substitution' ? '' : ` ${say(words.events.for, { name: event.relatedPlayerName })}`}`
