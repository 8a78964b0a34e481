/** Why prices moved, in sentences: the step of a chart that is touched, and what moved a position. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { PriceFrame } from '../client/price-frame.ts'
import type { Position, PositionWhy, PriceHistory } from '../client/wire.ts'
import { messageFor } from '../error-messages.ts'
import { percent, timeOfDay } from '../format.ts'
import { html } from '../html.ts'
import { matchEvents, onMove } from '../market.ts'
import { secondOf, type Step, stepAt, stepsOf } from '../price-steps.ts'
import { api } from '../session.ts'
import { eventWords, minuteWords } from './match-events.ts'
import { closeSentence, reasonWords } from '../served.ts'
import { words } from '../words.ts'

interface Told {
  readonly words: string
  /** Null where the price before is not known. */
  readonly changePct: number | null
  readonly at: string | number
}

/** Less than this would be shown as nothing. */
const SHOWN_PCT = 0.005

/** What a move is called until the history is read again, which knows its largest part. */
const CAUSE_WORDS: Readonly<Record<PriceFrame['cause'], string>> = {
  listing: words.reasons.listing,
  match: words.reasons.match,
  event: words.reasons.event,
  trade: words.reasons.trade,
  settlement: words.reasons.settlement,
  rules: words.reasons.rules,
}

type Ticks = PriceHistory['ticks']

const toldOf = ({ tick, changePct, isNewMatch }: Step<Ticks[number]>): Told => ({
  words: isNewMatch ? words.reasons.newMatch : reasonWords(tick.reason),
  changePct,
  at: tick.at,
})

function toldOfFrame(frame: PriceFrame): Told {
  const event = matchEvents.peek()?.events.find(({ id }) => id === frame.eventId)
  const cause = event === undefined ? CAUSE_WORDS[frame.cause] : `${eventWords(event)} ${minuteWords(event)}`
  return { words: cause, changePct: (frame.price / frame.previousPrice - 1) * 100, at: frame.at }
}

interface StepProps {
  readonly instrumentId: string
  readonly past: PriceHistory | null
  /** The time on the chart that is touched, in seconds since 1970; null for none. */
  readonly touched: number | null
}

/** The touched step, or the last move of a player: from its history, and then from the frames that follow. */
export function StepReason({ instrumentId, past, touched }: StepProps) {
  const [later, setLater] = useState<readonly Told[]>([])
  useEffect(() => setLater([]), [past])
  useEffect(
    () =>
      onMove((frame) => {
        if (frame.instrumentId !== instrumentId || frame.price === frame.previousPrice) return
        const told = toldOfFrame(frame)
        if (Math.abs(told.changePct ?? 0) >= SHOWN_PCT) setLater((known) => [...known, told])
      }),
    [instrumentId],
  )
  if (past === null) return html`<p class="reason hint">…</p>`
  const steps = stepsOf(past.ticks)
  const touchedLater = later.findLast(({ at }) => touched === null || secondOf(Number(at)) <= touched)
  const shown = steps.findLast((one) => one.changePct === null || Math.abs(one.changePct) >= SHOWN_PCT)
  const step = touched === null ? shown : stepAt(steps, touched)
  const told = touchedLater ?? (step === undefined || step === null ? null : toldOf(step))
  if (told === null) return html`<p class="reason hint">…</p>`
  return html`<p class="reason ${touched === null ? '' : 'touched'}">
    <span>${told.words}${told.changePct === null ? '' : html`: <b class="num">${percent(told.changePct)}</b>`}</span>
    <small>${timeOfDay(told.at)}</small>
  </p>`
}

/** What has been told of a closed position stays true. */
const known = new Map<string, PositionWhy>()
const KNOWN_MAX = 200

/** What moved a position, by cause, when asked for; and what closed it. */
export function PositionReasons({ position: { id, status } }: { position: Position }) {
  const box = useRef<HTMLDivElement>(null)
  const [why, setWhy] = useState<PositionWhy | null>(null)
  const [trouble, setTrouble] = useState<string | null>(null)
  const ask = async (): Promise<void> => {
    setTrouble(null)
    try {
      const found = known.get(id) ?? (await api.why(id))
      if (known.size >= KNOWN_MAX) known.clear()
      if (status === 'closed') known.set(id, found)
      setWhy(found)
    } catch (error) {
      setTrouble(messageFor(error))
    }
  }
  // Rows may have no room below them.
  useEffect(() => (why === null ? undefined : box.current?.scrollIntoView({ block: 'nearest' })), [why])
  return html`<div class="reasons" ref=${box}>
    <button class="link" aria-expanded=${why !== null} onClick=${() => (why === null ? void ask() : setWhy(null))}>
      ${words.reasons.whatMoved}
    </button>
    ${trouble === null ? null : html`<p class="trouble" role="alert">${trouble}</p>`}
    <div role="status">
      ${why === null ? null : html`<${Causes} because=${why.because} from=${why.openPrice} end=${why.close === null ? null : closeSentence(why.close)} />`}
    </div>
  </div>`
}

interface CausesProps {
  readonly because: PositionWhy['because']
  /** What the moves are fractions of. */
  readonly from: number
  /** A last line. */
  readonly end?: string | null
}

/** The sums of what moved a price. */
export function Causes({ because, from, end = null }: CausesProps) {
  const ofPrice = (amount: number): string => percent((100 * amount) / from)
  const other = Math.abs(because.other / from) * 100 >= SHOWN_PCT
  return html`<ul>
    ${because.events.map(({ reason, amount }) => html`<li>${reasonWords(reason)} <b class="num">${ofPrice(amount)}</b></li>`)}
    <li>${words.reasons.play} <b class="num">${ofPrice(because.play)}</b></li>
    <li>${words.reasons.trade} <b class="num">${ofPrice(because.crowd)}</b></li>
    ${other ? html`<li>${words.reasons.other} <b class="num">${ofPrice(because.other)}</b></li>` : null}
    ${end === null ? null : html`<li>${end}</li>`}
  </ul>`
}
