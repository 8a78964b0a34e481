/** The order ticket: direction, size and levels, with a preview of the cost. */
import { useEffect, useState } from 'preact/hooks'
import { open, sendOrder, signOf, wallet } from '../account.ts'
import type { Direction, Instrument, Quote } from '../client/wire.ts'
import { percent, signed, units, way } from '../format.ts'
import { html } from '../html.ts'
import { connection } from '../live.ts'
import { instruments, quoteOf, selectedMatch } from '../market.ts'
import { isUnsure, type UnsureOrder, unsureOrder } from '../orders.ts'
import { api } from '../session.ts'
import { refusalMessage, messageFor } from '../error-messages.ts'
import { toast } from '../toasts.ts'
import { mostLots, passesGate } from './confirm-gate.ts'
import { draft } from './order-draft.ts'
import { PracticeBadge } from './practice.ts'
import { type Asked, isAbout, isFar, previewAt } from './preview.ts'

/** Pause after typing before a quote is requested. */
const TYPING_MS = 250
/** So often at most it is requested again while nobody edits: when the price has moved far, or after a refusal. */
const REPEAT_MS = 20_000
const ASK_AGAIN_MS = 10_000
/** Where a level starts when it is switched on, as a fraction of the price. */
const STOP_AT = 0.03
const TARGET_AT = 0.06
const CHIPS = [0.1, 0.5, 1, 2] as const

export function Ticket({ instrument }: { instrument: Instrument }) {
  const quote = quoteOf(instrument.id).value
  const direction = draft.direction.value
  const lots = Number(draft.lots.value)
  const { contractSize } = instrument
  const isSized = Number.isFinite(lots) && lots > 0
  const [asked, setAsked] = useState<Asked | null>(null)
  const isCurrent = asked !== null && isAbout(asked, { instrumentId: instrument.id, direction, lots })
  const preview = isCurrent ? previewAt(asked, quote.price) : null
  const [trouble, setTrouble] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [turn, setTurn] = useState(0)
  const free = wallet.value?.freeMargin
  const window = selectedMatch.value?.tradeWindow.status
  const stopLoss = draft.stopLoss.value
  const takeProfit = draft.takeProfit.value

  // Levels belong to a player and a direction; a change of either clears them.
  useEffect(() => {
    draft.stopLoss.value = null
    draft.takeProfit.value = null
  }, [instrument.id, direction])

  useEffect(() => {
    if (!isSized || connection.value !== 'live') return setAsked(null)
    let isWanted = true
    const asking = setTimeout(() => {
      api
        .quote({ instrumentId: instrument.id, direction, lotSize: lots, stopLoss, takeProfit })
        .then((found) => {
          const at = quoteOf(instrument.id).peek().price
          if (isWanted) setAsked({ quote: found, at, instrumentId: instrument.id, direction, lots, contractSize })
        })
        .catch((error: unknown) => {
          if (isWanted) setTrouble(messageFor(error))
        })
    }, TYPING_MS)
    return () => {
      isWanted = false
      clearTimeout(asking)
    }
  }, [instrument.id, direction, lots, stopLoss, takeProfit, connection.value, quote.status, window, free, turn])

  useEffect(() => {
    const again = setInterval(() => {
      const price = quoteOf(instrument.id).peek().price
      const isOld = asked !== null && (asked.quote.refusal !== null || isFar(asked, price))
      if (document.visibilityState === 'visible' && isOld) setTurn((n) => n + 1)
    }, REPEAT_MS)
    return () => clearInterval(again)
  }, [asked])

  useEffect(() => setTrouble(null), [direction, lots, stopLoss, takeProfit])

  const send = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setTrouble(null)
    try {
      await open({
        instrumentId: instrument.id,
        direction,
        lotSize: lots,
        clientPrice: quote.price,
        stopLoss,
        takeProfit,
      })
      draft.stopLoss.value = null
      draft.takeProfit.value = null
      setTurn((n) => n + 1)
    } catch (error) {
      // What became of it is found out by its key: the notice says so.
      if (!isUnsure(error)) setTrouble(messageFor(error))
    }
    setBusy(false)
  }

  const refusal = preview?.refusal ?? null
  const isTight = preview !== null && free !== undefined && !passesGate(preview.margin, free)
  const most = preview === null ? 0 : mostLots(preview, instrument)
  const doubt = refusal !== null ? refusalMessage(refusal) : isTight ? tightWords(most) : null
  const problem = trouble ?? (isSized ? doubt : 'Enter a number of lots.')
  const unsure = isBusy ? null : unsureOrder.value
  const isBlocked = isBusy || !isSized || connection.value !== 'live' || doubt !== null || unsure !== null
  return html`
    <section class="card ticket" data-direction=${direction} aria-labelledby="ticket-title">
      <header>
        <h2 id="ticket-title">Order</h2>
        <span class="who">${instrument.name}</span>
        <${PracticeBadge} purse=${instrument.purse} />
      </header>
      <form onSubmit=${(event: Event) => void send(event)}>
        <div class="ways" role="group" aria-label="Direction">
          <${Way} way="long" words="Price goes up" price=${quote.price} />
          <${Way} way="short" words="Price goes down" price=${quote.price} />
        </div>
        <div class="field">
          <label for="lots">Lots</label>
          <span class="stepper">
            <button type="button" aria-label="Fewer lots" onClick=${() => stepLots(instrument, -1)}>−</button>
            <input
              id="lots"
              class="num"
              inputmode="decimal"
              autocomplete="off"
              value=${draft.lots.value}
              onInput=${(event: InputEvent) => (draft.lots.value = valueOf(event).replace(',', '.'))}
            />
            <button type="button" aria-label="More lots" onClick=${() => stepLots(instrument, 1)}>+</button>
          </span>
        </div>
        <div class="chips">
          ${CHIPS.map((size) => html`<button type="button" onClick=${() => (draft.lots.value = String(size))}>${size}</button>`)}
          <button type="button" disabled=${most <= 0} onClick=${() => (draft.lots.value = String(most))}>Max</button>
        </div>
        <${LevelField} kind="stopLoss" price=${quote.price} pnl=${preview?.pnlAtStopLoss ?? null} />
        <${LevelField} kind="takeProfit" price=${quote.price} pnl=${preview?.pnlAtTakeProfit ?? null} />
        <dl class="preview" aria-label="Cost">
          <div>
            <dt>Fills at</dt>
            <dd class="num">${preview === null ? '–' : units(preview.fillPrice)}</dd>
          </div>
          <div>
            <dt>Margin</dt>
            <dd class="num">${preview === null ? '–' : units(preview.margin)}</dd>
          </div>
          <div>
            <dt>Per unit of price</dt>
            <dd class="num">${isSized ? `±${units(lots * instrument.contractSize)}` : '–'}</dd>
          </div>
          <div>
            <dt>Washes out at</dt>
            <dd class="num">${washoutWords(preview)}</dd>
          </div>
          <div>
            <dt>Full time now pays</dt>
            <dd class="num">${preview === null ? '–' : units(preview.settlesAt)}</dd>
          </div>
        </dl>
        ${(preview?.warnings ?? []).map(({ message }) => html`<p class="hint caution" role="status">${message}</p>`)}
        ${unsure === null ? null : html`<${UnsureNotice} unsure=${unsure} />`}
        <p class="trouble" role="alert">${problem}</p>
        <button class="send" disabled=${isBlocked} aria-busy=${isBusy}>
          ${isBusy ? 'Sent, waiting for the answer' : direction === 'long' ? 'Go long' : 'Go short'}
          <small
            >${isSized ? `${draft.lots.value} lots` : ''}${preview === null ? '' : ` for ${units(preview.margin)}`}${
              instrument.purse === 'practice' ? ' of practice money' : ''
            }</small
          >
        </button>
        <p class="hint">You can close it after the hold. Stop-loss and take-profit work immediately.</p>
      </form>
    </section>
  `
}

/** What became of an order whose answer was lost is asked as soon as the server is there again. */
function UnsureNotice({ unsure }: { unsure: UnsureOrder }) {
  const { instrumentId, direction, lotSize } = unsure.order
  const [isAsking, setAsking] = useState(false)
  const find = async (): Promise<void> => {
    setAsking(true)
    try {
      await sendOrder(unsure)
    } catch (error) {
      if (!isUnsure(error)) toast({ tone: 'bad', title: 'Your order was not carried out', text: messageFor(error) })
    }
    setAsking(false)
  }
  useEffect(() => {
    if (connection.value !== 'live') return
    void find()
    const again = setInterval(() => void find(), ASK_AGAIN_MS)
    return () => clearInterval(again)
  }, [connection.value, unsure.key])
  const who = instruments.value.get(instrumentId)?.name ?? 'a player'
  const words =
    `We do not know yet whether your order went through: ${direction} ${lotSize} lots of ${who}. ` +
    'It is asked again under the same key, so it opens one position at most. '
  return html`
    <p class="hint caution" role="status">
      ${words}
      <button type="button" class="small" disabled=${isAsking} onClick=${() => void find()}>
        ${isAsking ? 'Asking…' : 'Ask now'}
      </button>
    </p>
  `
}

function Way({ way: name, words, price }: { way: Direction; words: string; price: number }) {
  return html`
    <button
      type="button"
      class="way ${name}"
      aria-pressed=${draft.direction.value === name}
      onClick=${() => (draft.direction.value = name)}
    >
      <b><span aria-hidden="true">${name === 'long' ? '▲' : '▼'}</span> ${name === 'long' ? 'Long' : 'Short'}</b>
      <small>${words}</small>
      <span class="num">${units(price)}</span>
    </button>
  `
}

const LEVELS = {
  stopLoss: { label: 'Stop-loss', side: -1, away: STOP_AT },
  takeProfit: { label: 'Take-profit', side: 1, away: TARGET_AT },
} as const

function LevelField({ kind, price, pnl }: { kind: keyof typeof LEVELS; price: number; pnl: number | null }) {
  const { label, side, away } = LEVELS[kind]
  const level = draft[kind]
  const value = level.value
  const offered = Math.round(price * (1 + side * signOf(draft.direction.value) * away) * 100) / 100
  return html`
    <div class="field level">
      <label class="check">
        <input
          type="checkbox"
          checked=${value !== null}
          onChange=${() => (level.value = value === null ? offered : null)}
        />
        <span>${label}</span>
      </label>
      ${
        value === null
          ? html`<span class="none">none</span>`
          : html`
              <input
                class="num"
                type="number"
                step="0.01"
                aria-label="${label} price"
                value=${value}
                onChange=${(event: Event) => (level.value = Number(valueOf(event)) || null)}
              />
              <span class="num outcome ${way(pnl ?? 0)}">
                ${pnl === null ? percent((value / price - 1) * 100) : signed(pnl)}
              </span>
            `
      }
    </div>
  `
}

function stepLots({ lotStep, minLot, maxLot }: Instrument, by: 1 | -1): void {
  const lots = Number(draft.lots.value) || 0
  const step = Math.max(lotStep, lots >= 10 ? 1 : lots >= 1 ? 0.1 : 0.05)
  const next = Math.min(maxLot, Math.max(minLot, lots + by * step))
  draft.lots.value = String(Math.round(next * 100) / 100)
}

const tightWords = (most: number): string =>
  `Leave 1 % of your free margin, because the price may move before the order fills${most > 0 ? `: ${most} lots at most` : ''}.`

const washoutWords = (preview: Quote | null): string =>
  preview === null || preview.washoutPrice === null ? '–' : units(preview.washoutPrice)

const valueOf = (event: Event): string => (event.target as HTMLInputElement).value
