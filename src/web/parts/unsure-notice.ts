/** An order of which it is not known whether it was carried out. */
import { useEffect, useState } from 'preact/hooks'
import { findOrder } from '../account.ts'
import { WANTED_MS } from '../client/ask.ts'
import { messageFor } from '../error-messages.ts'
import { lots } from '../format.ts'
import { html } from '../html.ts'
import { connection } from '../live.ts'
import { instruments } from '../market.ts'
import { isUnsure, releaseOrder, type UnsureOrder } from '../orders.ts'
import { now } from '../server-clock.ts'
import { toast } from '../toasts.ts'
import { say, words } from '../words.ts'

const ASK_AGAIN_MS = 10_000

/** What became of it is asked as soon as the server is there again. */
export function UnsureNotice({ unsure }: { unsure: UnsureOrder }) {
  const { instrumentId, direction, lotSize } = unsure.order
  const [isAsking, setAsking] = useState(false)
  // To ask is to send it again. One that an earlier page has kept has no time.
  const mayAsk = (): boolean => Date.now() - unsure.at < WANTED_MS
  // Looked at whenever the clock ticks.
  const isWanted = now.value > 0 && mayAsk()
  const find = async (): Promise<void> => {
    setAsking(true)
    try {
      await findOrder(unsure)
    } catch (error) {
      if (!isUnsure(error, true)) toast({ tone: 'bad', title: words.ticket.notDone, text: messageFor(error) })
    }
    setAsking(false)
  }
  useEffect(() => {
    if (connection.value !== 'live' || !isWanted) return
    void find()
    // After a sleep of the device this may come before a tick.
    const again = setInterval(() => void (mayAsk() && find()), ASK_AGAIN_MS)
    return () => clearInterval(again)
  }, [connection.value, unsure.key, isWanted])
  const who = instruments.value.get(instrumentId)?.name ?? words.common.aPlayer
  const order = { way: words.common[direction], size: lots(lotSize), who }
  const ask = isWanted ? words.ticket.askNow : words.ticket.sendNow
  return html`
    <p class="hint caution" role="status">
      ${say(isWanted ? words.ticket.unsure : words.ticket.unsureLate, order)}${' '}
      <button type="button" class="small" disabled=${isAsking} onClick=${() => void find()}>
        ${isAsking ? words.ticket.asking : ask}
      </button>
      ${
        isWanted
          ? null
          : html`${' '}<button
                type="button"
                class="small"
                disabled=${isAsking}
                onClick=${() => releaseOrder(unsure.key)}
              >
                ${words.ticket.dropIt}
              </button>`
      }
    </p>
  `
}
