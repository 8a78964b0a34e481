/** What tells the money of one purse from another: a switch, a badge beside each position, and a banner. */
import { useState } from 'preact/hooks'
import { areKnown, inPurse, refill, wallet } from '../account.ts'
import type { Purse } from '../client/wire.ts'
import { messageFor } from '../error-messages.ts'
import { html } from '../html.ts'
import { choosePurse, isLeague, leagueHere, leaguesHere, purse, purseName } from '../leagues.ts'
import { selectedMatch } from '../market.ts'
import { words } from '../words.ts'

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
    <div class="choice purses" role="group" aria-label=${words.purse.which}>
      <button type="button" aria-pressed=${leagueHere.value === null} onClick=${() => choosePurse(null)}>
        ${own === 'practice' ? words.purse.practice : words.purse.myWallet}
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
      <section class="practice-banner league" aria-label=${words.purse.league}>
        <p><b>${league.name}.</b> ${words.purse.leagueBanner}</p>
        <button class="small" onClick=${() => choosePurse(null)}>
          ${selectedMatch.value?.purse === 'practice' ? words.purse.backPractice : words.purse.backWallet}
        </button>
      </section>
    `
  }
  const balance = wallet.value?.balance ?? START
  const isIdle = areKnown.value && inPurse.value.length === 0
  const isRuined = purse.value === 'main' && balance < RUIN && isIdle
  if (purse.value === 'main' && !isRuined) return null
  const ask = async (): Promise<void> => {
    setBusy(true)
    setTrouble(null)
    await refill(isRuined ? 'main' : 'practice').catch((error: unknown) => setTrouble(messageFor(error)))
    setBusy(false)
  }
  return html`
    <section class="practice-banner" aria-label=${isRuined ? words.purse.refill : words.purse.practice}>
      ${
        isRuined
          ? html`<p><b>${words.purse.empty}</b> ${words.purse.emptyHint}</p>`
          : html`<p><b>${words.purse.practiceDot}</b> ${words.purse.practiceHint}</p>`
      }
      ${
        balance < START && isIdle
          ? html`<button class="small" disabled=${isBusy} onClick=${() => void ask()}>${words.purse.refillTo}</button>`
          : null
      }
      ${trouble === null ? null : html`<p class="trouble" role="alert">${trouble}</p>`}
    </section>
  `
}
