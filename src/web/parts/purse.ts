/** What tells the money of one purse from another: a switch, a badge beside each position, and a banner. */
import { useState } from 'preact/hooks'
import { inPurse, refill, wallet } from '../account.ts'
import type { Purse } from '../client/wire.ts'
import { messageFor } from '../error-messages.ts'
import { html } from '../html.ts'
import { choosePurse, isLeague, leagueHere, leaguesHere, purse, purseName } from '../leagues.ts'
import { selectedMatch } from '../market.ts'

export function PurseBadge({ purse: of }: { purse: Purse }) {
  if (of === 'main') return null
  return html`<b class=${isLeague(of) ? 'practice-badge league' : 'practice-badge'}>${purseName(of)}</b>`
}

/** A refill brings the wallet back to this. */
const START = 10_000
/** A main wallet with less can be refilled. */
const RUIN = 100

/** Which money the next order is paid from. Absent where there is no choice. */
export function PurseSwitch() {
  const here = leaguesHere.value
  if (here.length === 0) return null
  const own = selectedMatch.value?.purse ?? 'main'
  return html`
    <div class="choice purses" role="group" aria-label="Which money you trade with">
      <button type="button" aria-pressed=${leagueHere.value === null} onClick=${() => choosePurse(null)}>
        ${own === 'practice' ? 'Practice' : 'My wallet'}
      </button>
      ${here.map(
        ({ id, name }) => html`
          <button key=${id} type="button" aria-pressed=${leagueHere.value?.id === id} onClick=${() => choosePurse(id)}>
            ${name}
          </button>
        `,
      )}
    </div>
  `
}

/** Over a match that is traded with other money than the game's. */
export function PurseBanner() {
  const [trouble, setTrouble] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const league = leagueHere.value
  if (league !== null) {
    return html`
      <section class="practice-banner league" aria-label="League">
        <p>
          <b>${league.name}.</b> You trade with the money of this league, at the price that the match makes. It moves no
          price, counts in this league alone, and your own wallet stays as it is.
        </p>
        <button onClick=${() => choosePurse(null)}>
          Back to ${selectedMatch.value?.purse === 'practice' ? 'practice' : 'my wallet'}
        </button>
      </section>
    `
  }
  const balance = wallet.value?.balance ?? START
  const isRuined = purse.value === 'main' && balance < RUIN && inPurse.value.length === 0
  if (purse.value === 'main' && !isRuined) return null
  const ask = async (): Promise<void> => {
    setBusy(true)
    setTrouble(null)
    await refill(isRuined ? 'main' : 'practice').catch((error: unknown) => setTrouble(messageFor(error)))
    setBusy(false)
  }
  return html`
    <section class="practice-banner" aria-label=${isRuined ? 'Refill' : 'Practice'}>
      ${
        isRuined
          ? html`<p>
              <b>Your wallet is empty.</b> Once a week you can begin anew with 10,000 units. Your results stay as they
              are: no board counts a refill.
            </p>`
          : html`<p>
              <b>Practice.</b> This match is a recording: its result may be known. You trade practice money here. It
              counts on the practice boards alone, and your own wallet stays as it is.
            </p>`
      }
      ${
        balance < START && inPurse.value.length === 0
          ? html`<button disabled=${isBusy} onClick=${() => void ask()}>Refill to 10,000</button>`
          : null
      }
      ${trouble === null ? null : html`<p class="trouble" role="alert">${trouble}</p>`}
    </section>
  `
}
