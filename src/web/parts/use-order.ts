/** Sending the order of the ticket. A large one is shown again before it is sent. */
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { open, tradePrice } from '../account.ts'
import type { Instrument } from '../client/wire.ts'
import { messageFor } from '../error-messages.ts'
import { isUnsure } from '../orders.ts'
import { selectedId } from '../market.ts'
import { toast } from '../toasts.ts'
import { words } from '../words.ts'
import { draft } from './order-draft.ts'
import { isResting, rest } from './rest.ts'
import { orderPurse } from './use-quote.ts'

interface Sending {
  /** Of the element in which `trouble` is said. */
  readonly form: RefObject<HTMLFormElement | null>
  readonly trouble: string | null
  readonly isBusy: boolean
  readonly isReviewing: boolean
  /** Back from the review to the ticket. */
  readonly back: () => void
  /** Sends the order, or shows it again if it must be reviewed. `onDone`: it was carried out. */
  readonly submit: (mustReview: boolean, onDone: () => void) => void
}

export function useOrder(instrument: Instrument): Sending {
  const form = useRef<HTMLFormElement>(null)
  const [trouble, setTrouble] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [reviewed, setReviewed] = useState<string | null>(null)
  const written = () => ({
    instrumentId: instrument.id,
    direction: draft.direction.value,
    lotSize: Number(draft.lots.value),
    stopLoss: draft.stopLoss.value,
    takeProfit: draft.takeProfit.value,
    ...orderPurse(),
  })
  const shown = JSON.stringify(written())

  useEffect(() => {
    setTrouble(null)
    // Enter in the field of a level alters the order and shows it again before this runs.
    setReviewed((order) => (order === shown ? order : null))
  }, [shown])

  // Another player may be chosen before the answer comes, and the draft is then about that one.
  const isDrafted = (): boolean => selectedId.peek() === instrument.id
  const send = async (onDone: () => void): Promise<void> => {
    setReviewed(null)
    setBusy(true)
    setTrouble(null)
    try {
      const clientPrice = tradePrice(instrument.id)
      await open({ ...written(), clientPrice })
      rest()
      if (isDrafted()) {
        draft.stopLoss.value = null
        draft.takeProfit.value = null
        onDone()
      }
    } catch (error) {
      // The sheet may be closed by then, or another view shown.
      const isSeen = form.current?.checkVisibility() === true
      if (!isUnsure(error)) {
        if (isSeen) setTrouble(messageFor(error))
        else toast({ tone: 'bad', title: words.ticket.notDone, text: messageFor(error) })
      } else if (!isSeen) {
        // What became of it is found out by its key: the notice in the ticket says so.
        const to = `trade/${instrument.id}`
        toast({ tone: 'bad', title: instrument.name, text: words.errors.UNKNOWN_OUTCOME, to })
      }
    }
    setBusy(false)
  }

  return {
    form,
    trouble,
    isBusy,
    isReviewing: reviewed === shown,
    back: () => setReviewed(null),
    submit: (mustReview, onDone) => {
      if (isBusy || isResting.peek()) return
      rest()
      const order = JSON.stringify(written())
      if (mustReview && reviewed !== order) setReviewed(order)
      else void send(onDone)
    },
  }
}
