/** Why prices moved, in sentences: the last move of a player, and what moved a closed position. */
import { useEffect, useState } from 'preact/hooks'
import type { PriceFrame } from '../client/price-frame.ts'
import type { Position, PositionWhy, PriceHistory } from '../client/wire.ts'
import { messageFor } from '../error-messages.ts'
import { percent, timeOfDay } from '../format.ts'
import { html } from '../html.ts'
import { matchEvents, onMove } from '../market.ts'
import { api } from '../session.ts'
import { eventWords, minuteWords } from './match-events.ts'
import { closeSentence, moveSentence, reasonWords } from '../served.ts'
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

function lastReasonIn({ ticks }: PriceHistory): Told | null {
  const [last, before] = [ticks.at(-1), ticks.at(-2)]
  if (last === undefined) return null
  const changePct = before === undefined ? null : (last.price / before.price - 1) * 100
  return { words: reasonWords(last.reason), changePct, at: last.at }
}

/** The last move of a player: from its history, and then from the frames that follow. */
export function LastReason({ instrumentId, past }: { instrumentId: string; past: PriceHistory | null }) {
  const [told, setTold] = useState<Told | null>(null)
  useEffect(() => setTold(past === null ? null : lastReasonIn(past)), [past])
  useEffect(
    () =>
      onMove((frame) => {
        if (frame.instrumentId !== instrumentId || frame.price === frame.previousPrice) return
        const changePct = (frame.price / frame.previousPrice - 1) * 100
        if (Math.abs(changePct) < SHOWN_PCT) return
        const event = matchEvents.value?.events.find(({ id }) => id === frame.eventId)
        const cause = event === undefined ? CAUSE_WORDS[frame.cause] : `${eventWords(event)} ${minuteWords(event)}`
        setTold({ words: cause, changePct, at: frame.at })
      }),
    [instrumentId],
  )
  if (told === null) return html`<p class="reason hint">…</p>`
  return html`<p class="reason">
    <span>${told.words}${told.changePct === null ? '' : `: ${percent(told.changePct)}`}</span>
    <small>${timeOfDay(told.at)}</small>
  </p>`
}

/** What has been told stays true: a closed position changes no more. */
const known = new Map<string, PositionWhy>()
const KNOWN_MAX = 200

/** Under a closed position: what closed it, and the moves behind it, when asked for. */
export function ClosedReason({ position: { id } }: { position: Position }) {
  const [why, setWhy] = useState<PositionWhy | null>(known.get(id) ?? null)
  const [trouble, setTrouble] = useState<string | null>(null)
  const ask = async (): Promise<void> => {
    setTrouble(null)
    try {
      const found = await api.why(id)
      if (known.size >= KNOWN_MAX) known.clear()
      known.set(id, found)
      setWhy(found)
    } catch (error) {
      setTrouble(messageFor(error))
    }
  }
  if (why === null) {
    return html`<div class="reasons">
      <button class="link" onClick=${() => void ask()}>${words.reasons.whatMoved}</button>
      ${trouble === null ? null : html`<p class="trouble" role="alert">${trouble}</p>`}
    </div>`
  }
  return html`<div class="reasons" role="status">
    <p>${why.close === null ? '' : closeSentence(why.close)}</p>
    <ul>
      ${why.moves.map((move) => html`<li key=${move.at}><small>${timeOfDay(move.at)}</small> ${moveSentence(move)}</li>`)}
    </ul>
  </div>`
}
