/** Both teams on a pitch: each player with number, price and change. Picking one opens the ticket. */
import { computed } from '@preact/signals'
import { positions } from '../account.ts'
import { pick } from '../address.ts'
import { arrow, percent, units, way } from '../format.ts'
import { html } from '../html.ts'
import { kitsOf } from '../kits.ts'
import { changePct, instruments, quoteOf, selectedMatch } from '../market.ts'
import type { Listed, Side } from '../line-up.ts'
import { lineUps, unknownSquads } from '../squads.ts'
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
  const { name, side, jerseyNumber, instrumentId, minute } = player
  const isHeld = [...positions.value.values()].some((position) => position.instrumentId === instrumentId)
  return html`
    <button class="shirt ${side}" onClick=${() => pick(instrumentId)}>
      <span class="number num" aria-hidden="true">${jerseyNumber ?? ''}</span>
      <b title=${name}>
        <span aria-hidden="true">${name.split(' ').at(-1)}</span><span class="sr-only">${name}</span>
      </b>
      <${Price} id=${instrumentId} />
      ${isHeld ? html`<em>${words.pitch.held}</em>` : minute === null ? null : html`<em>${say(words.pitch.on, { minute })}</em>`}
    </button>
  `
}

function Price({ id }: { id: string }) {
  const instrument = instruments.value.get(id)
  const { price, isStale } = quoteOf(id).value
  if (instrument === undefined) return html`<small>${words.pitch.noPrice}</small>`
  const changed = changePct(instrument, price)
  return html`
    <span class="num at ${isStale ? 'stale' : ''}">${units(price)}</span>
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
