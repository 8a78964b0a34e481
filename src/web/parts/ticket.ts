/** The order ticket: direction, size and levels, with a preview of the cost. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { untracked } from '@preact/signals'
import { open, sendOrder, tradePrice, wallet } from '../account.ts'
import type { Direction, Instrument, Quote } from '../client/wire.ts'
import { countdown, lots as lotWords, units } from '../format.ts'
import { html } from '../html.ts'
import { isLeague, purse, purseName } from '../leagues.ts'
import { connection } from '../live.ts'
import { instruments, quoteOf, selectedMatch } from '../market.ts'
import { isUnsure, type UnsureOrder, unsureOrder } from '../orders.ts'
import { api } from '../session.ts'
import { refusalMessage, messageFor } from '../error-messages.ts'
import { toast } from '../toasts.ts'
import { mostLots, passesGate } from './confirm-gate.ts'
import { Explained, Help } from './help.ts'
import { LevelField } from './level-field.ts'
import { draft } from './order-draft.ts'
import { PurseBadge, PurseSwitch } from './purse.ts'
import { type Asked, isAbout, isFar, previewAt } from './preview.ts'
import { needsReview, setLots, setStake, stakeOf, stepLots } from './stake.ts'
import { warningWords } from '../served.ts'
import { rich, say, words } from '../words.ts'

/** Pause after typing before a quote is requested. */
const TYPING_MS = 250
/** So often at most it is requested again while nobody edits: when the price has moved far, or after a refusal. */
const REPEAT_MS = 20_000
const ASK_AGAIN_MS = 10_000
/** Stakes to choose from, in units. */
const CHIPS = [25, 50, 100, 250] as const

export function Ticket({ instrument }: { instrument: Instrument }) {
  const quote = quoteOf(instrument.id).value
  const price = tradePrice(instrument.id)
  const direction = draft.direction.value
  const lots = Number(draft.lots.value)
  const { contractSize } = instrument
  const isSized = Number.isFinite(lots) && lots > 0
  const [asked, setAsked] = useState<Asked | null>(null)
  const isCurrent = asked !== null && isAbout(asked, { instrumentId: instrument.id, direction, lots })
  const preview = isCurrent ? previewAt(asked, price) : null
  const [trouble, setTrouble] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [isReviewing, setReviewing] = useState(false)
  const [turn, setTurn] = useState(0)
  const free = wallet.value?.freeMargin
  const window = selectedMatch.value?.tradeWindow.status
  const holdSecs = selectedMatch.value?.tradeWindow.holdSecs ?? null
  const stopLoss = draft.stopLoss.value
  const takeProfit = draft.takeProfit.value

  // The stake stays when another player is chosen; what it buys does not.
  useEffect(
    () =>
      setStake(
        draft.stake.peek(),
        untracked(() => tradePrice(instrument.id)),
        instrument,
      ),
    [instrument.id],
  )

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
        .quote({
          instrumentId: instrument.id,
          direction,
          lotSize: lots,
          stopLoss,
          takeProfit,
          ...(isLeague(purse.value) ? { purse: purse.value } : {}),
        })
        .then((found) => {
          const at = untracked(() => tradePrice(instrument.id))
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
  }, [
    instrument.id,
    direction,
    lots,
    stopLoss,
    takeProfit,
    connection.value,
    quote.status,
    window,
    free,
    turn,
    purse.value,
  ])

  useEffect(() => {
    const again = setInterval(() => {
      const at = untracked(() => tradePrice(instrument.id))
      const isOld = asked !== null && (asked.quote.refusal !== null || isFar(asked, at))
      if (document.visibilityState === 'visible' && isOld) setTurn((n) => n + 1)
    }, REPEAT_MS)
    return () => clearInterval(again)
  }, [asked])

  useEffect(() => {
    setTrouble(null)
    setReviewing(false)
  }, [direction, lots, stopLoss, takeProfit])

  const submit = (event: Event): void => {
    event.preventDefault()
    if (isBusy) return
    if (isLarge && !isReviewing) setReviewing(true)
    else void send()
  }

  const send = async (): Promise<void> => {
    setReviewing(false)
    setBusy(true)
    setTrouble(null)
    try {
      await open({
        instrumentId: instrument.id,
        direction,
        lotSize: lots,
        clientPrice: price,
        ...(isLeague(purse.value) ? { purse: purse.value } : {}),
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
  const least = stakeOf(instrument.minLot, price, instrument)
  const problem =
    trouble ?? (isSized ? doubt : say(words.ticket.atLeast, { least: units(Math.ceil(least * 100) / 100) }))
  const isLarge = preview !== null && wallet.value !== null && needsReview(preview.margin, wallet.value.balance)
  const unsure = isBusy ? null : unsureOrder.value
  const isBlocked = !isSized || connection.value !== 'live' || doubt !== null || unsure !== null
  return html`
    <section class="card ticket" data-direction=${direction} aria-labelledby="ticket-title">
      <header>
        <h2 id="ticket-title">${words.ticket.order}</h2>
        <span class="who">${instrument.name}</span>
        <${PurseBadge} purse=${purse.value} />
      </header>
      <${PurseSwitch} />
      <form onSubmit=${submit}>
        <div class="ways" role="group" aria-label=${words.ticket.direction}>
          <${Way} way="long" hint=${words.ticket.goesUp} price=${price} />
          <${Way} way="short" hint=${words.ticket.goesDown} price=${price} />
        </div>
        <p class="asked">${words.ticket.whichWay} <${Help} word="direction" about=${words.ticket.longAndShort} /></p>
        <${Explained} word="direction" />
        <div class="field stake">
          <span
            ><label for="stake">${words.ticket.stakeInUnits}</label> <${Help} word="stake" about=${words.ticket.stake}
          /></span>
          <input
            id="stake"
            class="num"
            inputmode="decimal"
            autocomplete="off"
            value=${draft.stake.value}
            onInput=${(event: InputEvent) => setStake(decimalOf(event), price, instrument)}
          />
          <${Explained} word="stake" />
        </div>
        <div class="chips">
          ${CHIPS.map(
            (stake) => html`
              <button type="button" onClick=${() => setStake(String(stake), price, instrument)}>${stake}</button>
            `,
          )}
          <button type="button" disabled=${most <= 0} onClick=${() => setLots(String(most), price, instrument)}>
            ${words.ticket.max}
          </button>
        </div>
        <div class="field">
          <span
            ><label for="lots">${words.ticket.lotsLabel}</label> <${Help} word="lots" about=${words.ticket.lots}
          /></span>
          <span class="stepper">
            <button
              type="button"
              tabindex="-1"
              aria-label=${words.ticket.fewer}
              onClick=${() => stepLots(price, instrument, -1)}
            >
              −
            </button>
            <input
              id="lots"
              class="num"
              inputmode="decimal"
              autocomplete="off"
              value=${draft.lots.value}
              onInput=${(event: InputEvent) => setLots(decimalOf(event), price, instrument)}
              onKeyDown=${(event: KeyboardEvent) => {
                const step = event.key === 'ArrowUp' ? 1 : event.key === 'ArrowDown' ? -1 : 0
                if (step === 0) return
                event.preventDefault()
                stepLots(price, instrument, step)
              }}
            />
            <button
              type="button"
              tabindex="-1"
              aria-label=${words.ticket.more}
              onClick=${() => stepLots(price, instrument, 1)}
            >
              +
            </button>
          </span>
          <${Explained} word="lots" />
        </div>
        <${LevelField} kind="stopLoss" price=${price} pnl=${preview?.pnlAtStopLoss ?? null} />
        <${LevelField} kind="takeProfit" price=${price} pnl=${preview?.pnlAtTakeProfit ?? null} />
        <p class="risk">
          ${rich(words.ticket.risk, { leverage: html`<b>${instrument.leverage}×:</b>`, pct: 100 / instrument.leverage })}
        </p>
        <dl class="preview" aria-label=${words.ticket.cost}>
          <${Fact} word="washout" label=${words.ticket.washesOut} value=${washoutWords(preview)} />
          <${Fact} word="hold" label=${words.ticket.closeAfter} value=${holdWords(holdSecs)} />
          <${Fact}
            word="fill"
            label=${words.ticket.fillsAt}
            value=${preview === null ? '–' : units(preview.fillPrice)}
          />
          <${Fact}
            word="point"
            label=${words.ticket.perPoint}
            value=${isSized ? `±${units(lots * instrument.contractSize)}` : '–'}
          />
        </dl>
        ${(preview?.warnings ?? []).map(({ level, washoutPrice }) => html`<p class="hint caution" role="status">${warningWords({ level, washoutPrice })}</p>`)}
        ${unsure === null ? null : html`<${UnsureNotice} unsure=${unsure} />`}
        <p class="trouble" role="alert">${problem}</p>
        ${
          isReviewing && preview !== null && wallet.value !== null
            ? html`<${Review}
                who=${instrument.name}
                preview=${preview}
                balance=${wallet.value.balance}
                holdSecs=${holdSecs}
                onBack=${() => setReviewing(false)}
              />`
            : null
        }
        <button class="send" disabled=${isBlocked && !isBusy} aria-busy=${isBusy}>
          ${isBusy ? words.ticket.waiting : say(isReviewing ? words.ticket.yesGo : words.ticket.go, { way: words.common[direction] })}
          <small
            >${preview === null ? '' : say(purse.value === 'main' ? words.ticket.units : words.ticket.unitsOf, { n: units(preview.margin), purse: purse.value === 'practice' ? words.ticket.practice : purseName(purse.value) })}${isSized ? ` · ${lotWords(lots)}` : ''}</small
          >
        </button>
      </form>
    </section>
  `
}

const Fact = ({
  word,
  label,
  value,
}: {
  word: 'washout' | 'hold' | 'fill' | 'point' | 'settles'
  label: string
  value: string
}) => html`
  <div>
    <dt>${label} <${Help} word=${word} about=${label.toLowerCase()} /></dt>
    <dd class="num">${value}</dd>
    <${Explained} word=${word} as="dd" />
  </div>
`

interface ReviewProps {
  readonly who: string
  readonly preview: Quote
  readonly balance: number
  readonly holdSecs: number | null
  readonly onBack: () => void
}

/** What a large order means, once more before it is sent. */
function Review({ who, preview, balance, holdSecs, onBack }: ReviewProps) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.focus(), [])
  const share = Math.round((preview.margin / balance) * 100)
  return html`
    <div class="review" role="group" aria-labelledby="review-title" tabindex="-1" ref=${box}>
      <h3 id="review-title">${say(words.ticket.lookAgain, { share, who })}</h3>
      <p>
        ${say(words.ticket.youStake, { stake: units(preview.margin), balance: units(balance), price: washoutWords(preview) })}
        ${(holdSecs ?? 0) === 0 ? '' : ` ${say(words.ticket.notFor, { time: holdWords(holdSecs) })}`}
      </p>
      <button type="button" class="small" onClick=${onBack}>${words.ticket.changeIt}</button>
    </div>
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
      if (!isUnsure(error)) toast({ tone: 'bad', title: words.ticket.notDone, text: messageFor(error) })
    }
    setAsking(false)
  }
  useEffect(() => {
    if (connection.value !== 'live') return
    void find()
    const again = setInterval(() => void find(), ASK_AGAIN_MS)
    return () => clearInterval(again)
  }, [connection.value, unsure.key])
  const who = instruments.value.get(instrumentId)?.name ?? words.common.aPlayer
  const told = say(words.ticket.unsure, { way: words.common[direction], size: lotWords(lotSize), who })
  return html`
    <p class="hint caution" role="status">
      ${told}${' '}
      <button type="button" class="small" disabled=${isAsking} onClick=${() => void find()}>
        ${isAsking ? words.ticket.asking : words.ticket.askNow}
      </button>
    </p>
  `
}

function Way({ way: name, hint, price }: { way: Direction; hint: string; price: number }) {
  return html`
    <button
      type="button"
      class="way ${name}"
      aria-pressed=${draft.direction.value === name}
      onClick=${() => (draft.direction.value = name)}
    >
      <b><span aria-hidden="true">${name === 'long' ? '▲' : '▼'}</span> ${words.ticket[name]}</b>
      <small>${hint}</small>
      <span class="num">${units(price)}</span>
    </button>
  `
}

const tightWords = (most: number): string =>
  most > 0 ? say(words.ticket.tightMost, { most: lotWords(most) }) : words.ticket.tight

const holdWords = (secs: number | null): string =>
  secs === null ? '–' : secs === 0 ? words.ticket.atOnce : countdown(secs * 1_000)

const washoutWords = (preview: Quote | null): string =>
  preview === null || preview.washoutPrice === null ? '–' : units(preview.washoutPrice)

const decimalOf = (event: Event): string => valueOf(event).replace(',', '.')
const valueOf = (event: Event): string => (event.target as HTMLInputElement).value
