/** The quote of the order that is being written: requested after typing, and again when the price has moved far. */
import { useEffect, useState } from 'preact/hooks'
import { untracked } from '@preact/signals'
import { tradePrice, wallet } from '../account.ts'
import type { Instrument, Quote } from '../client/wire.ts'
import { messageFor } from '../error-messages.ts'
import { purse } from '../leagues.ts'
import { connection } from '../live.ts'
import { quoteOf, selectedMatch } from '../market.ts'
import { api } from '../session.ts'
import { mostLots } from './confirm-gate.ts'
import { draft } from './order-draft.ts'
import { type Asked, isFar, previewAt } from './preview.ts'

/** Pause after typing before a quote is requested. */
const TYPING_MS = 250
/** The shortest time between two requests while the ticket is not edited: the price moved far, or a refusal came. */
const REPEAT_MS = 20_000

interface QuoteOfDraft {
  /** Null while none is about what is written. */
  readonly preview: Quote | null
  /** The most lots that the user can order; 0 while that is not known. */
  readonly most: number
  /** Why the last request brought no quote. */
  readonly trouble: string | null
  /** Requests it again. */
  readonly again: () => void
}

export function useQuote(instrument: Instrument): QuoteOfDraft {
  const { id, contractSize, minLot } = instrument
  const direction = draft.direction.value
  const written = Number(draft.lots.value)
  const isSized = Number.isFinite(written) && written > 0
  // The smallest order, too, says what the largest is.
  const lots = isSized ? written : minLot
  const [stopLoss, takeProfit] = [draft.stopLoss.value, draft.takeProfit.value]
  const [asked, setAsked] = useState<Asked | null>(null)
  const [trouble, setTrouble] = useState<string | null>(null)
  const [turn, setTurn] = useState(0)
  const again = (): void => setTurn((n) => n + 1)
  const asOf = [connection.value, quoteOf(id).value.status, selectedMatch.value?.tradeWindow.status, purse.value]

  useEffect(() => {
    if (connection.value !== 'live') return setAsked(null)
    let isWanted = true
    const of = purse.peek()
    const asking = setTimeout(() => {
      api
        .quote({ instrumentId: id, direction, lotSize: lots, stopLoss, takeProfit, ...orderPurse() })
        .then((found) => {
          const at = untracked(() => tradePrice(id))
          if (!isWanted) return
          setAsked({ quote: found, at, instrumentId: id, purse: of, direction, lots, contractSize })
          setTrouble(null)
        })
        .catch((error: unknown) => {
          if (isWanted) setTrouble(messageFor(error))
        })
    }, TYPING_MS)
    return () => {
      isWanted = false
      clearTimeout(asking)
    }
  }, [id, direction, lots, stopLoss, takeProfit, wallet.value?.freeMargin, turn, ...asOf])

  // Another size leaves the largest as it is.
  const isOwn = asked?.instrumentId === id && asked.direction === direction && asked.purse === purse.value
  const own = isOwn ? asked : null

  useEffect(() => {
    const repeating = setInterval(() => {
      const at = untracked(() => tradePrice(id))
      const isOld = own?.lots !== lots || own.quote.refusal !== null || isFar(own, at)
      if (document.visibilityState === 'visible' && isOld) again()
    }, REPEAT_MS)
    return () => clearInterval(repeating)
  }, [own, lots])

  return {
    preview: isSized && own?.lots === lots ? previewAt(own, tradePrice(id)) : null,
    trouble,
    most: own === null ? 0 : mostLots(own.quote, instrument),
    again,
  }
}

/** An order for the main game need not name its purse. */
export const orderPurse = () => (purse.value === 'main' ? {} : { purse: purse.value })
