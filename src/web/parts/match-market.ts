/** What the market makes of the match on the screen: its movers, and the latest orders. */
import { signal } from '@preact/signals'
import { pick } from '../address.ts'
import { FLAG, type PriceFrame } from '../client/price-frame.ts'
import type { Instrument } from '../client/wire.ts'
import { arrow, percent, timeOfDay, units, way } from '../format.ts'
import { html } from '../html.ts'
import { changePct, instruments, matchInstruments, onMove, quoteOf, selectedMatchId } from '../market.ts'
import { still } from './still.ts'
import { words } from '../words.ts'

const MOVERS = 5
const TRADES = 8

const withPrice = (instrument: Instrument) => {
  const { price } = quoteOf(instrument.id).value
  return { instrument, price, changed: changePct(instrument, price) }
}

const movers = still(
  () =>
    matchInstruments.value
      .map(withPrice)
      .filter(({ changed }) => Math.abs(changed) >= 0.005)
      .toSorted((a, b) => Math.abs(b.changed) - Math.abs(a.changed))
      .slice(0, MOVERS)
      .map(({ instrument }) => instrument),
  () => selectedMatchId.value,
)

export function MatchMovers() {
  return html`
    <section class="card movers" aria-labelledby="movers-title">
      <header><h2 id="movers-title">${words.matchMarket.onPitch}</h2></header>
      ${
        movers.shown.value.length === 0
          ? html`<p class="empty">${words.matchMarket.noMovers}</p>`
          : html`<ol ...${movers.handlers}>
              ${movers.shown.value.map(withPrice).map(
                ({ instrument: { id, name }, price, changed }) => html`
                  <li key=${id}>
                    <button class="link" onClick=${() => pick(id)}>${name}</button>
                    <b class="num">${units(price)}</b>
                    <span class="num ${way(changed)}"
                      ><i aria-hidden="true">${arrow(changed)}</i> ${percent(changed)}</span
                    >
                  </li>
                `,
              )}
            </ol>`
      }
    </section>
  `
}

/** Moves by orders, the newest first, since the page was opened. */
const trades = signal<readonly PriceFrame[]>([])
onMove((frame) => {
  const isNew = (frame.flags & (FLAG.snapshot | FLAG.replay)) === 0
  if (!isNew || frame.cause !== 'trade' || frame.price === frame.previousPrice) return
  trades.value = [frame, ...trades.peek().filter(({ fixtureId }) => fixtureId === frame.fixtureId)].slice(0, TRADES)
})

const latest = still(
  () => trades.value.filter(({ fixtureId }) => fixtureId === selectedMatchId.value),
  () => selectedMatchId.value,
)

export function MatchTrades() {
  const shown = latest.shown.value
  return html`
    <section class="card movers" aria-labelledby="trades-title">
      <header><h2 id="trades-title">${words.matchMarket.orders}</h2></header>
      ${
        shown.length === 0
          ? html`<p class="empty">${words.matchMarket.noOrders}</p>`
          : html`<ol ...${latest.handlers}>
              ${shown.map(
                ({ epoch, seq, instrumentId, at, price, previousPrice }) => html`
                  <li key=${`${epoch}/${seq}`}>
                    <button class="link" onClick=${() => pick(instrumentId)}>
                      ${instruments.value.get(instrumentId)?.name ?? words.matchMarket.aPlayer}
                    </button>
                    <b class="num ${way(price - previousPrice)}"
                      ><i aria-hidden="true">${arrow(price - previousPrice)}</i> ${units(price)}</b
                    >
                    <small class="num">${timeOfDay(at)}</small>
                  </li>
                `,
              )}
            </ol>`
      }
    </section>
  `
}
