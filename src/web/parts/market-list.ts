/** Every player of the match with a live price. Arrow keys go up and down, Enter picks. */
import { computed, signal } from '@preact/signals'
import { positions } from '../account.ts'
import { pick } from '../address.ts'
import type { Instrument } from '../client/wire.ts'
import { arrow, percent, units, way } from '../format.ts'
import { PAGE_FEATURES } from '../features/index.ts'
import { html } from '../html.ts'
import { changePct, matches, matchInstruments, quoteOf, selectedId, selectedMatch } from '../market.ts'
import { isSought } from '../sought.ts'
import { Icon } from './icons.ts'
import { still } from './still.ts'
import { words } from '../words.ts'

const CARDS = PAGE_FEATURES.flatMap(({ cards }) => cards?.player ?? [])

type Side = 'all' | 'home' | 'away'
type Order = 'change' | 'price' | 'name'

const side = signal<Side>('all')
const order = signal<Order>('price')
const sought = signal('')

const ORDERS: Readonly<Record<Order, (a: Instrument, b: Instrument) => number>> = {
  // Of the quotes as they are now, without following them: rows that jump about cannot be clicked.
  change: (a, b) => Math.abs(changeNow(b)) - Math.abs(changeNow(a)),
  price: (a, b) => quoteOf(b.id).peek().price - quoteOf(a.id).peek().price,
  name: (a, b) => a.name.localeCompare(b.name),
}

const changeNow = (instrument: Instrument): number => changePct(instrument, quoteOf(instrument.id).peek().price)

/** The ids of all players in order: sorted again when the matches are refreshed. */
const ranks = still(
  () => {
    void matches.value
    return matchInstruments.value
      .toSorted(
        (a, b) => Number(isOff(a)) - Number(isOff(b)) || ORDERS[order.value](a, b) || a.name.localeCompare(b.name),
      )
      .map(({ id }) => id)
  },
  () => `${order.value} ${selectedMatch.value?.id}`,
)

const shown = computed(() => {
  const places = new Map(ranks.shown.value.map((id, place) => [id, place]))
  const placeOf = ({ id }: Instrument): number => places.get(id) ?? places.size
  return matchInstruments.value
    .filter(({ team }) => side.value === 'all' || team.side === side.value)
    .filter(({ name }) => isSought(name, sought.value))
    .toSorted((a, b) => placeOf(a) - placeOf(b))
})

/** On the bench, taken off or sent off in a traded match: the price hardly moves, and new positions are refused. */
const isOff = ({ id }: Instrument): boolean =>
  selectedMatch.value?.tradeWindow.open === true && quoteOf(id).peek().status === 'CLOSED'

const reached = signal<string | null>(null)
/** The row that Tab stops at; the arrow keys go on from there. */
const stop = computed(() => {
  const ids = shown.value.map(({ id }) => id)
  return [reached.value, selectedId.value].find((id) => id !== null && ids.includes(id)) ?? ids[0]
})

const held = computed(() => new Map([...positions.value.values()].map((p) => [p.instrumentId, p.direction])))

export function MarketList() {
  const match = selectedMatch.value
  const sides: readonly (readonly [Side, string])[] = [
    ['all', words.market.all],
    ['home', match?.home.name ?? words.market.home],
    ['away', match?.away.name ?? words.market.away],
  ]
  return html`
    <section class="card market" aria-labelledby="market-title">
      <header>
        <h2 id="market-title">${words.market.players}</h2>
        <label class="search">
          <${Icon} name="search" />
          <input
            type="search"
            aria-keyshortcuts="/"
            placeholder=${words.market.find}
            aria-label=${words.market.findPlayer}
            value=${sought.value}
            onInput=${(event: InputEvent) => (sought.value = (event.target as HTMLInputElement).value)}
          />
        </label>
        <select
          aria-label=${words.market.sortBy}
          value=${order.value}
          onChange=${(event: Event) => (order.value = (event.target as HTMLSelectElement).value as Order)}
        >
          <option value="price">${words.market.price}</option>
          <option value="change">${words.market.movement}</option>
          <option value="name">${words.market.name}</option>
        </select>
      </header>
      <div class="choice teams" role="group" aria-label=${words.market.team}>
        ${sides.map(
          ([key, label]) =>
            html`<button aria-pressed=${side.value === key} onClick=${() => (side.value = key)}>${label}</button>`,
        )}
      </div>
      <ul class="players" onKeyDown=${walk} ...${ranks.handlers}>
        ${shown.value.map((instrument) => html`<${Row} key=${instrument.id} instrument=${instrument} />`)}
        ${shown.value.length === 0 ? html`<li class="empty">${words.market.none}</li>` : null}
      </ul>
    </section>
  `
}

function Row({ instrument }: { instrument: Instrument }) {
  const direction = held.value.get(instrument.id)
  const isBenched = quoteOf(instrument.id).value.status === 'CLOSED' && isOff(instrument)
  return html`
    <li>
      <button
        class="player ${isBenched ? 'off' : ''}"
        tabindex=${stop.value === instrument.id ? 0 : -1}
        onFocus=${() => (reached.value = instrument.id)}
        aria-current=${selectedId.value === instrument.id ? 'true' : undefined}
        onClick=${() => pick(instrument.id)}
      >
        <span class="post ${instrument.team.side}">${words.common.roles[instrument.position]}</span>
        <span class="who">
          <b>${instrument.name}</b>
          <small
            >${instrument.team.name}${isBenched ? ` ${words.market.notPlaying}` : ''}${direction === undefined ? null : html` · <em class=${direction}>${words.common[direction]}</em>`}</small
          >
        </span>
        <${Price} instrument=${instrument} />
      </button>
      ${CARDS.map((Card) => html`<${Card} instrumentId=${instrument.id} place="list" />`)}
    </li>
  `
}

function Price({ instrument }: { instrument: Instrument }) {
  const { price, previous, seq, isStale } = quoteOf(instrument.id).value
  const change = changePct(instrument, price)
  return html`
    <span class="tag ${isStale ? 'stale' : ''}">
      <b class="num flash-${way(price - previous)}" key=${seq}>${units(price)}</b>
      <small class="num ${way(change)}"><i aria-hidden="true">${arrow(change)}</i> ${percent(change)}</small>
    </span>
  `
}

function walk(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  event.preventDefault()
  const rows = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLButtonElement>('button.player')]
  const at = rows.indexOf(document.activeElement as HTMLButtonElement)
  rows[Math.min(rows.length - 1, Math.max(0, at + step))]?.focus()
}
