/** Both teams on a pitch: each player with number, price and change. Picking one opens the ticket. */
import { inPurse, livePnl } from '../account.ts'
import type { Squad } from '../client/wire.ts'
import { arrow, percent, signed, units, way } from '../format.ts'
import { html } from '../html.ts'
import { changePct, instruments, matchEvents, quoteOf, selectedMatch } from '../market.ts'
import type { Listed, Side } from '../line-up.ts'
import { lineUps, unknownSquads } from '../squads.ts'
import { PAGE_FEATURES } from '../features/index.ts'
import { grass, shirtOf } from './grass.ts'
import { openSheet } from './sheet.ts'
import { say, words } from '../words.ts'

type Player = Listed<Squad['players'][number]>

const CARDS = PAGE_FEATURES.flatMap(({ cards }) => cards?.player ?? [])

export function Pitch() {
  const teams = lineUps.value
  const match = selectedMatch.value
  if (teams === null) {
    const isUnknown = unknownSquads.value !== null && unknownSquads.value === match?.id
    return html`<section class="grass empty" aria-busy=${!isUnknown}>
      <p>${isUnknown ? words.pitch.notKnown : words.pitch.loading}</p>
    </section>`
  }
  return match === null
    ? null
    : grass(
        match,
        { home: teams.home.playing, away: teams.away.playing },
        (player) => html`<${Shirt} player=${player} />`,
      )
}

const Shirt = ({ player }: { player: Player }) => html`
  <button
    class="shirt ${player.side}"
    title=${player.name}
    aria-haspopup="dialog"
    onClick=${({ currentTarget }: { currentTarget: HTMLElement }) => {
      // Safari gives no button the focus that is tapped.
      currentTarget.focus()
      openSheet(player.instrumentId)
    }}
  >
    ${shirtOf(player, matchEvents.value?.events ?? [])}
    <${Price} id=${player.instrumentId} />
    <${Held} id=${player.instrumentId} />
    ${CARDS.map((Card) => html`<${Card} instrumentId=${player.instrumentId} place="shirt" />`)}
  </button>
`

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

/** Players who are not on the pitch: new positions on them are refused. */
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

const minuteOf = ({ minute }: Player): string => (minute === null ? '' : `${minute}′`)
const nameOf = (side: Side): string => selectedMatch.value?.[side].name ?? side

const Spare = ({ player, mark }: { player: Player; mark: string }) => html`
  <li>
    <span class="post ${player.side}">${player.jerseyNumber ?? '–'}</span>
    <span class="who"><b>${player.name}</b> <small>${nameOf(player.side)} · ${mark}</small></span>
    <span class="prices"><${Price} id=${player.instrumentId} /></span>
  </li>
`
