/** What tells practice money from the game's: a badge beside each position, and a banner over a recording. */
import { useState } from 'preact/hooks'
import { inPurse, purse, refill, wallet } from '../account.ts'
import type { Purse } from '../client/wire.ts'
import { messageFor } from '../error-messages.ts'
import { html } from '../html.ts'

export const PracticeBadge = ({ purse: of }: { purse: Purse }) =>
  of === 'practice' ? html`<b class="practice-badge">Practice</b>` : null

/** A refill brings the wallet back to this. */
const START = 10_000

/** Over a match that is traded with practice money. */
export function PracticeBanner() {
  const [trouble, setTrouble] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  if (purse.value !== 'practice') return null
  const balance = wallet.value?.balance ?? START
  const ask = async (): Promise<void> => {
    setBusy(true)
    setTrouble(null)
    await refill().catch((error: unknown) => setTrouble(messageFor(error)))
    setBusy(false)
  }
  return html`
    <section class="practice-banner" aria-label="Practice">
      <p>
        <b>Practice.</b> This match is a recording: its result may be known. You trade practice money here. It counts on
        the practice boards alone, and your own wallet stays as it is.
      </p>
      ${
        balance < START && inPurse.value.length === 0
          ? html`<button disabled=${isBusy} onClick=${() => void ask()}>Refill to 10,000</button>`
          : null
      }
      ${trouble === null ? null : html`<p class="trouble" role="alert">${trouble}</p>`}
    </section>
  `
}
