/** Both teams on a pitch, as rows of shirts: the caller draws what is below each. */
import type { Match, MatchEvent } from '../client/wire.ts'
import { html } from '../html.ts'
import { kitsOf } from '../kits.ts'
import { carriedBy, type Listed } from '../line-up.ts'
import { eventWords, minuteWords, Sign } from './match-events.ts'
import { say, words } from '../words.ts'

const LINES = ['GK', 'DEF', 'MID', 'FWD'] as const
/** More than five shirts do not fit beside each other on a phone. */
const WIDEST = 5

/** The players of a team in rows from their own goal; a player without a place stands in midfield. */
function rows<Player extends Listed>(playing: readonly Player[]): readonly (readonly Player[])[] {
  return LINES.flatMap((line) => {
    const found = playing.filter(({ position }) => (position ?? 'MID') === line)
    const count = Math.ceil(found.length / WIDEST)
    const size = Math.ceil(found.length / Math.max(1, count))
    return Array.from({ length: count }, (_, at) => found.slice(at * size, (at + 1) * size))
  })
}

/** The colours of both teams, as the style sheet takes them. */
function colours({ home, away }: Teams) {
  const kits = kitsOf(home.name, away.name)
  return {
    '--home': kits.home.main,
    '--home-trim': kits.home.trim,
    '--away': kits.away.main,
    '--away-trim': kits.away.trim,
  }
}

type Teams = Pick<Match, 'home' | 'away'>

/** All players on the pitch, by side. `draw` makes a shirt. */
export const grass = <Player extends Listed>(
  match: Teams,
  playing: Readonly<Record<'home' | 'away', readonly Player[]>>,
  draw: (player: Player) => unknown,
) => html`
  <section class="grass" style=${colours(match)} aria-label=${words.pitch.lineUps}>
    <div class="half home">${rows(playing.home).map((row) => line(row, draw))}</div>
    <div class="half away">
      ${rows(playing.away)
        .toReversed()
        .map((row) => line(row, draw))}
    </div>
  </section>
`

const line = <Player extends Listed>(row: readonly Player[], draw: (player: Player) => unknown) => html`
  <ul class="line-of">
    ${row.map((player) => html`<li key=${player.playerId}>${draw(player)}</li>`)}
  </ul>
`

/** Number, goals and cards, and name. */
export function shirtOf({ name, jerseyNumber, minute, playerId }: Listed, events: readonly MatchEvent[]) {
  const carried = carriedBy(playerId, events)
  return html`
    <span class="number num" aria-hidden="true">${jerseyNumber ?? ''}</span>
    ${
      carried.length === 0 && minute === null
        ? null
        : html`<span class="carried">
            ${carried.map((event) => html`<${Sign} event=${event} /><span class="sr-only">${eventWords(event)} ${minuteWords(event)}</span>`)}
            ${minute === null ? null : html`<em>⇅ <span class="sr-only">${say(words.pitch.on, { minute })}</span></em>`}
          </span>`
    }
    <b title=${name}> <span aria-hidden="true">${name.split(' ').at(-1)}</span><span class="sr-only">${name}</span> </b>
  `
}
