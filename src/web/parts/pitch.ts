/** Both teams on a pitch: each player with number, price and change. Picking one opens the ticket. */
import { computed } from '@preact/signals'
import { inPurse, livePnl } from '../account.ts'
import { arrow, percent, signed, units, way } from '../format.ts'
import { html } from '../html.ts'
import { kitsOf } from '../kits.ts'
import { changePct, instruments, matchEvents, quoteOf, selectedMatch } from '../market.ts'
import { carriedBy, type Listed, type Side } from '../line-up.ts'
import { lineUps, unknownSquads } from '../squads.ts'
import { eventWords, minuteWords, Sign } from './match-events.ts'
import { openSheet } from './sheet.ts'
import { say, words } from '../words.ts'

const LINES = ['GK', 'DEF', 'MID', 'FWD'] as const
/** More than five shirts do not fit beside each other on a phone. */
const WIDEST = 5

/** The players of a team in rows from their own goal; a player without a place stands in midfield. */
function rows(playing: readonly Listed[]): readonly (readonly Listed[])[] {
  return LINES.flatMap((line) => {
    const found = playing.filter(({ position }) => (position ?? 'MID') === line)
    const count = Math.ceil(found.length / WIDEST)
    const size = Math.ceil(found.length / Math.max(1, count))
    return Array.from({ length: count }, (_, at) => found.slice(at * size, (at + 1) * size))
  })
}

/** The colours of both teams, as the style sheet takes them. */
const colours = computed(() => {
  const match = selectedMatch.value
  if (match === null) return {}
  const { home, away } = kitsOf(match.home.name, match.away.name)
  return { '--home': home.main, '--home-trim': home.trim, '--away': away.main, '--away-trim': away.trim }
})

export function Pitch() {
  const teams = lineUps.value
  if (teams === null) {
    const isUnknown = unknownSquads.value !== null && unknownSquads.value === selectedMatch.value?.id
    return html`<section class="grass empty" aria-busy=${!isUnknown}>
      <p>${isUnknown ? words.pitch.notKnown : words.pitch.loading}</p>
    </section>`
  }
  return html`
    <section class="grass" style=${colours.value} aria-label=${words.pitch.lineUps}>
      <div class="half home">${rows(teams.home.playing).map((row) => html`<${Row} row=${row} />`)}</div>
      <div class="half away">
        ${rows(teams.away.playing)
          .toReversed()
          .map((row) => html`<${Row} row=${row} />`)}
      </div>
    </section>
  `
}

const Row = ({ row }: { row: readonly Listed[] }) => html`
  <ul class="line-of">
    ${row.map((player) => html`<li key=${player.playerId}><${Shirt} player=${player} /></li>`)}
  </ul>
`

function Shirt({ player }: { player: Listed }) {
  const { name, side, jerseyNumber, instrumentId, minute, playerId } = player
  const carried = carriedBy(playerId, matchEvents.value?.events ?? [])
  return html`
    <button class="shirt ${side}" aria-haspopup="dialog" onClick=${() => openSheet(instrumentId)}>
      <span class="number num" aria-hidden="true">${jerseyNumber ?? ''}</span>
      ${
        carried.length === 0 && minute === null
          ? null
          : html`<span class="carried">
              ${carried.map((event) => html`<${Sign} event=${event} /><span class="sr-only">${eventWords(event)} ${minuteWords(event)}</span>`)}
              ${minute === null ? null : html`<em>⇅ <span class="sr-only">${say(words.pitch.on, { minute })}</span></em>`}
            </span>`
      }
      <b title=${name}>
        <span aria-hidden="true">${name.split(' ').at(-1)}</span><span class="sr-only">${name}</span>
      </b>
      <${Price} id=${instrumentId} />
      <${Held} id=${instrumentId} />
    </button>
  `
}

/** What the user's positions in a player bring now. */
function Held({ id }: { id: string }) {
  const held = inPurse.value.filter(({ instrumentId }) => instrumentId === id)
  if (held.length === 0) return null
  const pnl = held.reduce((sum, position) => sum + livePnl(position), 0)
  return html`<em class="num ${way(pnl)}"><span class="sr-only">${words.pitch.held}</span> ${signed(pnl)}</em>`
}

function Price({ id }: { id: string }) {
  const instrument = instruments.value.get(id)
  const { price, previous, seq, isStale } = quoteOf(id).value
  if (instrument === undefined) return html`<small>${words.pitch.noPrice}</small>`
  const changed = changePct(instrument, price)
  return html`
    <span key=${seq} class="num at flash-${way(price - previous)} ${isStale ? 'stale' : ''}">${units(price)}</span>
    <small class="num ${way(changed)}"><i aria-hidden="true">${arrow(changed)}</i> ${percent(changed)}</small>
  `
}

/** Those who are not on the pitch: nobody can buy them. */
export function Reserves() {
  const teams = lineUps.value
  if (teams === null) return null
  const off = [...teams.home.off, ...teams.away.off]
  return html`
    <section class="card reserves" aria-labelledby="reserves-title">
      <header><h2 id="reserves-title">${words.pitch.notOn}</h2></header>
      <p class="hint">${words.pitch.notOnHint}</p>
      ${
        off.length === 0
          ? null
          : html`
              <h3>${words.pitch.goneOff}</h3>
              <ul>
                ${off.map(
                  (player) => html`
                    <${Spare}
                      key=${player.playerId}
                      player=${player}
                      mark=${`${words.pitch[player.why]} ${minuteOf(player)}`}
                    />
                  `,
                )}
              </ul>
            `
      }
      ${(['home', 'away'] as const).map(
        (side) => html`
          <details>
            <summary>${say(words.pitch.benchOf, { team: nameOf(side), n: teams[side].bench.length })}</summary>
            <ul>
              ${teams[side].bench.map(
                (player) => html`<${Spare} key=${player.playerId} player=${player} mark=${words.pitch.bench} />`,
              )}
            </ul>
          </details>
        `,
      )}
    </section>
  `
}

const minuteOf = ({ minute }: Listed): string => (minute === null ? '' : `${minute}′`)
const nameOf = (side: Side): string => selectedMatch.value?.[side].name ?? side

const Spare = ({ player, mark }: { player: Listed; mark: string }) => html`
  <li>
    <span class="post ${player.side}">${player.jerseyNumber ?? '–'}</span>
    <span class="who"><b>${player.name}</b> <small>${nameOf(player.side)} · ${mark}</small></span>
    <span class="prices"><${Price} id=${player.instrumentId} /></span>
  </li>
`
