/** What stands above many open positions: their total, a search, an order, and closing all of them. */
import { computed, signal, untracked } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { close, livePay, livePnl, positions } from '../account.ts'
import { ApiError, WANTED_MS } from '../client/ask.ts'
import type { Position } from '../client/wire.ts'
import { messageFor } from '../error-messages.ts'
import { signed, units, way } from '../format.ts'
import { html } from '../html.ts'
import { connection } from '../live.ts'
import { nameOf } from '../names.ts'
import { isUnsure } from '../orders.ts'
import { now } from '../server-clock.ts'
import { isSought } from '../sought.ts'
import { plural, rich, say, words } from '../words.ts'
import { isTraded } from './close-button.ts'
import { isResting, rest } from './rest.ts'

/** With fewer there is nothing to look for. */
const MANY = 5
/** Closes that are too many at once are asked for again so often. */
const ALLOWED_MS = 3_000

type Order = 'newest' | 'result' | 'stake' | 'player'

const sought = signal('')
const order = signal<Order>('newest')

const ORDERS: Readonly<Record<Order, (a: Position, b: Position) => number>> = {
  newest: () => 0, // as they are kept
  result: (a, b) => livePnl(b) - livePnl(a),
  stake: (a, b) => b.margin - a.margin,
  player: (a, b) => nameOf(a.instrumentId).localeCompare(nameOf(b.instrumentId)),
}

/** The open positions that are looked for. Prices do not reorder them: rows that jump about cannot be clicked. */
const shownPositions = computed<readonly Position[]>(() => {
  const found = [...positions.value.values()].filter((one) => isSought(nameOf(one.instrumentId), sought.value))
  const compare = ORDERS[order.value]
  return untracked(() => found.toSorted(compare))
})
export const shownIds = computed(() => shownPositions.value.map(({ id }) => id))
/** What the user has asked for. */
export const sorting = (): string => `${order.value} ${sought.value}`

export function PositionTools() {
  const all = positions.value.size
  const isSearched = all >= MANY || sought.value !== ''
  if (all < 2 && !isSearched) return null
  const shown = shownPositions.value
  const pnl = shown.reduce((sum, one) => sum + livePnl(one), 0)
  return html`
    <div class="tools">
      <p class="total">
        ${rich(plural(shown.length, words.positions.total, { pnl: '{pnl}' }), { pnl: html`<b class="num ${way(pnl)}">${signed(pnl)}</b>` })}
      </p>
      <${CloseAll} shown=${shown} />
      ${isSearched ? html`<${Search} />` : null}
    </div>
  `
}

const Search = () => html`
  <input
    type="search"
    placeholder=${words.market.find}
    aria-label=${words.positions.find}
    value=${sought.value}
    onInput=${(event: InputEvent) => (sought.value = (event.target as HTMLInputElement).value)}
  />
  <select
    aria-label=${words.positions.sortBy}
    value=${order.value}
    onChange=${(event: Event) => (order.value = (event.target as HTMLSelectElement).value as Order)}
  >
    <option value="newest">${words.positions.newest}</option>
    <option value="result">${words.positions.result}</option>
    <option value="stake">${words.positions.stake}</option>
    <option value="player">${words.positions.player}</option>
  </select>
`

/** Asks once, at another place than the first press, and says what it will pay. */
function CloseAll({ shown }: { shown: readonly Position[] }) {
  const [isAsking, setAsking] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<string | null>(null)
  const [first, keep] = [useRef<HTMLButtonElement>(null), useRef<HTMLButtonElement>(null)]
  useEffect(() => keep.current?.focus(), [isAsking])
  const free = shown.filter((one) => Date.parse(one.closableAt) <= now.value && isTraded(one))
  const isOff = isBusy || free.length === 0 || connection.value !== 'live'
  const closeThem = async (): Promise<void> => {
    if (isResting.peek()) return
    rest()
    // The buttons go with the positions.
    document.querySelector<HTMLElement>('.positions header button')?.focus()
    setBusy(true)
    setAsking(false)
    const began = Date.now()
    const left = [...free]
    let [done, why] = [0, '']
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      try {
        await close(one.id)
        done++
      } catch (error) {
        const code = error instanceof ApiError ? error.code : ''
        // A user waits for no more than a minute: for what was too much at once, and for matches that are busy.
        const isLate = Date.now() - began > WANTED_MS
        if (code === 'RATE_LIMITED' && !isLate) {
          left.unshift(one)
          await new Promise((resolve) => setTimeout(resolve, ALLOWED_MS))
          continue
        }
        why = messageFor(error)
        if (code === 'BUSY' ? isLate : isUnsure(error, true)) break // The server is away.
      }
    }
    if (why !== '') setTrouble(say(words.positions.closedSome, { done, n: free.length, why }))
    setBusy(false)
  }
  const ask = (): void => {
    rest()
    setTrouble(null)
    setAsking(true)
  }
  const keepThem = (): void => {
    first.current?.focus()
    setAsking(false)
  }
  const amount = free.reduce((sum, one) => sum + livePay(one, one.lotSize), 0)
  return html`
    <button class="small" ref=${first} aria-expanded=${isAsking} disabled=${isOff} onClick=${isAsking ? keepThem : ask}>
      ${words.positions.closeAll}
    </button>
    ${trouble === null ? null : html`<p class="trouble" role="alert">${trouble}</p>`}
    ${
      isAsking
        ? html`<div class="ask" role="group" aria-label=${words.positions.closeAll}>
            <p>
              ${plural(free.length, words.positions.closeAllAsk, { amount: units(amount) })}
              ${free.length < shown.length ? ` ${plural(shown.length - free.length, words.positions.stillHeld)}` : ''}
            </p>
            <button class="small" ref=${keep} onClick=${keepThem}>${words.positions.keepThem}</button>
            <button
              class="small danger"
              disabled=${isOff}
              aria-disabled=${isResting.value}
              onClick=${() => void closeThem()}
            >
              ${plural(free.length, words.positions.closeThem)}
            </button>
          </div>`
        : null
    }
  `
}
