/** The order ticket: direction, size and levels, with a preview of the cost. */
import { useEffect, useRef } from 'preact/hooks'
import { untracked } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { tradePrice, wallet } from '../account.ts'
import type { Direction, Instrument, Quote } from '../client/wire.ts'
import { countdown, dayTime, decimalSign, lots as lotWords, units } from '../format.ts'
import { html } from '../html.ts'
import { areLeaguesKnown, purse, purseName } from '../leagues.ts'
import { connection } from '../live.ts'
import { selectedMatch } from '../market.ts'
import { unsureOrder } from '../orders.ts'
import { refusalMessage } from '../error-messages.ts'
import { passesGate } from './confirm-gate.ts'
import { Explained, Help } from './help.ts'
import { LevelField } from './level-field.ts'
import { draft, FIRST_STAKE } from './order-draft.ts'
import { PurseBadge, PurseSwitch } from './purse.ts'
import { isResting, pressOnce } from './rest.ts'
import { needsReview, setLots, setStake, stakeOf, stepLots } from './stake.ts'
import { UnsureNotice } from './unsure-notice.ts'
import { useHold } from './use-hold.ts'
import { useOrder } from './use-order.ts'
import { useQuote } from './use-quote.ts'
import { warningWords } from '../served.ts'
import { decimalIn } from '../typed.ts'
import { rich, say, words } from '../words.ts'

/** Stakes to choose from, in units. */
const CHIPS = [25, 50, 100, 250] as const

/** @param isHeld Whether the order is sent by holding the button: over the match a tap is soon made by mistake. */
export function Ticket({ instrument, isHeld = false }: { instrument: Instrument; isHeld?: boolean }) {
  const price = tradePrice(instrument.id)
  const direction = draft.direction.value
  const lots = Number(draft.lots.value)
  const isSized = Number.isFinite(lots) && lots > 0
  const { form, trouble, isBusy, isReviewing, back, submit } = useOrder(instrument)
  const { preview, most, again, trouble: unquoted } = useQuote(instrument)
  const balance = wallet.value?.balance ?? null
  const holdSecs = selectedMatch.value?.tradeWindow.holdSecs ?? null
  useDraftOf(instrument)
  // A stake of a large part of the wallet is not what the next order is about.
  const afresh = (): void => setStake(FIRST_STAKE, tradePrice(instrument.id), instrument)

  const doubt = doubtAbout(preview, most)
  const margin = preview?.margin ?? stakeOf(lots, price, instrument)
  const isLarge = isSized && (balance === null || needsReview(margin, balance))
  // Only what is known can be shown again.
  const isUnknown = preview === null || balance === null
  const unsure = isBusy ? null : unsureOrder.value
  const isBlocked =
    !isSized ||
    !areLeaguesKnown.value ||
    connection.value !== 'live' ||
    doubt !== null ||
    unsure !== null ||
    (isLarge && isUnknown)
  // A hold may end after the order was blocked.
  const order = (mustReview: boolean): void => (isBlocked ? undefined : submit(mustReview, isLarge ? afresh : again))
  return html`
    <section class="card ticket" data-direction=${direction} aria-labelledby="ticket-title">
      <header>
        <h2 id="ticket-title">${words.ticket.order}</h2>
        <span class="who">${instrument.name}</span>
        <${PurseBadge} purse=${purse.value} />
      </header>
      <${PurseSwitch} />
      <form
        ref=${form}
        onKeyDown=${pressOnce}
        onSubmit=${(event: Event) => {
          event.preventDefault()
          if (!isHeld) order(isLarge)
        }}
      >
        <${Ways} price=${price} />
        <${Stake} price=${price} instrument=${instrument} most=${most} />
        <${Lots} price=${price} instrument=${instrument} />
        <${LevelField} kind="stopLoss" price=${price} pnl=${preview?.pnlAtStopLoss ?? null} />
        <${LevelField} kind="takeProfit" price=${price} pnl=${preview?.pnlAtTakeProfit ?? null} />
        <${Cost} instrument=${instrument} preview=${preview} holdSecs=${holdSecs} lots=${isSized ? lots : null} />
        ${(preview?.warnings ?? []).map(({ level, washoutPrice }) => html`<p class="hint caution" role="status">${warningWords({ level, washoutPrice })}</p>`)}
        ${unsure === null ? null : html`<${UnsureNotice} unsure=${unsure} />`}
        <p class="trouble" role="alert">
          ${trouble ?? unquoted ?? (isSized ? doubt : html`<span aria-live="off">${atLeastWords(price, instrument)}</span>`)}
        </p>
        ${
          isReviewing && preview !== null && balance !== null
            ? html`<${Review}
                who=${instrument.name}
                preview=${preview}
                balance=${balance}
                holdSecs=${holdSecs}
                onBack=${back}
              />`
            : null
        }
        <${isHeld ? HeldButton : SendButton}
          isOff=${isBlocked && !isBusy}
          isBusy=${isBusy}
          isReviewing=${isReviewing}
          onHeld=${() => order(isLarge)}
          onPressed=${() => order(true)}
        >
          <small
            >${[...(preview === null ? [] : [marginWords(preview)]), ...(isSized ? [lotWords(lots)] : [])].join(' · ')}</small
          >
        <//>
      </form>
    </section>
  `
}

interface SendProps {
  readonly isOff: boolean
  readonly isBusy: boolean
  readonly isReviewing: boolean
  readonly children: ComponentChildren
}

function SendButton({ isOff, isBusy, isReviewing, children }: SendProps) {
  const way = words.common[draft.direction.value]
  return html`
    <button class="send" disabled=${isOff} aria-disabled=${isResting.value} aria-busy=${isBusy}>
      ${isBusy ? words.ticket.waiting : say(isReviewing ? words.ticket.yesGo : words.ticket.go, { way })} ${children}
    </button>
  `
}

interface HeldProps extends SendProps {
  readonly onHeld: () => void
  /** Without a hold, by assistive technology: the order is shown once more. */
  readonly onPressed: () => void
}

function HeldButton({ isOff, isBusy, isReviewing, children, onHeld, onPressed }: HeldProps) {
  const { isHolding, handlers } = useHold(onHeld, onPressed)
  const way = words.common[draft.direction.value]
  return html`
    <button
      type="button"
      class="send"
      disabled=${isOff}
      aria-disabled=${isResting.value}
      aria-busy=${isBusy}
      data-holding=${isHolding ? '' : undefined}
      ...${handlers}
    >
      ${isBusy ? words.ticket.waiting : say(isReviewing ? words.ticket.yesHold : words.ticket.hold, { way })}
      ${children}
    </button>
  `
}

/** Keeps the draft in step with what it is about. */
function useDraftOf(instrument: Instrument): void {
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
  }, [instrument.id, draft.direction.value])
}

const Ways = ({ price }: { price: number }) => html`
  <div class="ways" role="group" aria-label=${words.ticket.direction}>
    <${Way} way="long" hint=${words.ticket.goesUp} price=${price} />
    <${Way} way="short" hint=${words.ticket.goesDown} price=${price} />
  </div>
  <p class="asked">${words.ticket.whichWay} <${Help} word="direction" about=${words.ticket.longAndShort} /></p>
  <${Explained} word="direction" />
`

interface SizeProps {
  readonly price: number
  readonly instrument: Instrument
}

const Stake = ({ price, instrument, most }: SizeProps & { readonly most: number }) => html`
  <div class="field stake">
    <span
      ><label for="stake">${words.ticket.stakeInUnits}</label> <${Help} word="stake" about=${words.ticket.stake}
    /></span>
    <input
      id="stake"
      class="num"
      inputmode="decimal"
      autocomplete="off"
      value=${draft.stake.value.replace('.', decimalSign)}
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
`

const Lots = ({ price, instrument }: SizeProps) => html`
  <div class="field">
    <span><label for="lots">${words.ticket.lotsLabel}</label> <${Help} word="lots" about=${words.ticket.lots} /></span>
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
        value=${draft.lots.value.replace('.', decimalSign)}
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
`

interface CostProps {
  readonly instrument: Instrument
  readonly preview: Quote | null
  readonly holdSecs: number | null
  /** Null while no size is written. */
  readonly lots: number | null
}

const Cost = ({ instrument, preview, holdSecs, lots }: CostProps) => html`
  <p class="risk">
    ${rich(words.ticket.risk, { leverage: html`<b>${instrument.leverage}×:</b>`, pct: 100 / instrument.leverage })}
  </p>
  <dl class="preview" aria-label=${words.ticket.cost}>
    <${Fact} word="washout" label=${words.ticket.washesOut} value=${washoutWords(preview)} />
    <${Fact} word="hold" label=${words.ticket.closeAfter} value=${holdWords(holdSecs)} />
    <${Fact} word="fill" label=${words.ticket.fillsAt} value=${preview === null ? '–' : units(preview.fillPrice)} />
    <${Fact}
      word="point"
      label=${words.ticket.perPoint}
      value=${lots === null ? '–' : `±${units(lots * instrument.contractSize)}`}
    />
  </dl>
`

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

/** What a large order means, shown again before it is sent. */
function Review({ who, preview, balance, holdSecs, onBack }: ReviewProps) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.focus(), [])
  const share = Math.round((preview.margin / balance) * 100)
  // Its own button goes: the order begins with the way.
  const change = (event: Event): void => {
    const form = (event.currentTarget as HTMLElement).closest('form')
    form?.querySelector<HTMLElement>('.way[aria-pressed="true"]')?.focus()
    onBack()
  }
  return html`
    <div class="review" role="group" aria-labelledby="review-title" tabindex="-1" ref=${box}>
      <h3 id="review-title">${say(words.ticket.lookAgain, { share, who })}</h3>
      <p>
        ${say(words.ticket.youStake, { stake: units(preview.margin), balance: units(balance), price: washoutWords(preview) })}
        ${(holdSecs ?? 0) === 0 ? '' : ` ${say(words.ticket.notFor, { time: holdWords(holdSecs) })}`}
      </p>
      <button type="button" class="small" onClick=${change}>${words.ticket.changeIt}</button>
    </div>
  `
}

function Way({ way: name, hint, price }: { way: Direction; hint: string; price: number }) {
  return html`
    <button
      type="button"
      class="way ${name}"
      aria-keyshortcuts=${name === 'long' ? 'L' : 'S'}
      aria-pressed=${draft.direction.value === name}
      onClick=${() => (draft.direction.value = name)}
    >
      <b><span aria-hidden="true">${name === 'long' ? '▲' : '▼'}</span> ${words.ticket[name]}</b>
      <small>${hint}</small>
      <span class="num">${units(price)}</span>
    </button>
  `
}

/** Why the order would not be carried out, or null. */
function doubtAbout(preview: Quote | null, most: number): string | null {
  if (preview === null) return null
  const match = selectedMatch.value
  if (preview.refusal?.code === 'MARKET_CLOSED' && match?.tradeWindow.reason === 'the match has not kicked off') {
    return say(words.ticket.opens, { when: dayTime(match.startsAt) })
  }
  if (preview.refusal !== null) return refusalMessage(preview.refusal)
  const free = wallet.value?.freeMargin
  return free === undefined || passesGate(preview.margin, free) ? null : tightWords(most)
}

function atLeastWords(price: number, instrument: Instrument): string {
  const least = stakeOf(instrument.minLot, price, instrument)
  return say(words.ticket.atLeast, { least: units(Math.ceil(least * 100) / 100) })
}

function marginWords({ margin }: Quote): string {
  const from = purse.value === 'practice' ? words.ticket.practice : purseName(purse.value)
  return say(purse.value === 'main' ? words.ticket.units : words.ticket.unitsOf, { n: units(margin), purse: from })
}

const tightWords = (most: number): string =>
  most > 0 ? say(words.ticket.tightMost, { most: lotWords(most) }) : words.ticket.tight

const holdWords = (secs: number | null): string =>
  secs === null ? '–' : secs === 0 ? words.ticket.atOnce : countdown(secs * 1_000)

const washoutWords = (preview: Quote | null): string =>
  preview === null || preview.washoutPrice === null ? '–' : units(preview.washoutPrice)

const decimalOf = (event: Event): string => decimalIn((event.target as HTMLInputElement).value)
