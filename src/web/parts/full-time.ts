/** What a match made of the user's positions, as a card that can be shared. */
import { useRef, useState } from 'preact/hooks'
import type { Match, Position, Purse } from '../client/wire.ts'
import { arrow, percent, signed, way } from '../format.ts'
import { html } from '../html.ts'
import { nameOf } from '../names.ts'
import { api } from '../session.ts'
import { toast } from '../toasts.ts'
import { drawCard } from './card-picture.ts'
import { useRequest, Waiting } from './use-request.ts'

/** The numbers of the card. */
export interface FullTime {
  readonly score: string
  readonly total: number
  /** Of all margin. */
  readonly returnPct: number
  readonly count: number
  readonly best: Call | null
  readonly worst: Call | null
}

interface Call {
  readonly name: string
  readonly pnl: number
}

const pnlOf = ({ realizedPnl }: Position): number => realizedPnl ?? 0
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

/** Positions that are void count nowhere. */
function fullTimeOf({ home, away }: Match, positions: readonly Position[]): FullTime {
  const counted = positions.filter(({ voidReason }) => voidReason === null)
  const ordered = counted.toSorted((a, b) => pnlOf(b) - pnlOf(a))
  const call = (one: Position | undefined): Call | null =>
    one === undefined ? null : { name: nameOf(one.instrumentId), pnl: pnlOf(one) }
  const total = sum(counted.map(pnlOf))
  const margin = sum(counted.map((one) => one.margin))
  return {
    score: `${home.name} ${home.score ?? 0}–${away.score ?? 0} ${away.name}`,
    total,
    returnPct: margin === 0 ? 0 : (total / margin) * 100,
    count: counted.length,
    best: call(ordered[0]),
    worst: ordered.length < 2 ? null : call(ordered.at(-1)),
  }
}

function FullTimeCard({ matchId, purse }: { matchId: number; purse: Purse }) {
  const { answer, trouble } = useRequest(
    async () => Promise.all([api.match(matchId), api.closedIn(matchId, purse)]),
    [matchId, purse],
  )
  if (answer === null) return html`<${Waiting} trouble=${trouble} />`
  const [match, { positions }] = answer
  return html`<${Card} card=${fullTimeOf(match, positions)} />`
}

function Card({ card }: { card: FullTime }) {
  const { score, total, returnPct, count, best, worst } = card
  const [isBusy, setBusy] = useState(false)
  const share = async (): Promise<void> => {
    setBusy(true)
    try {
      await shareCard(card)
    } catch {
      toast({ tone: 'bad', title: 'Not shared', text: 'The picture could not be made.' })
    }
    setBusy(false)
  }
  return html`
    <section class="full-time" aria-label="Your match">
      <p class="score">${score}</p>
      <p class="total num ${way(total)}"><i aria-hidden="true">${arrow(total)}</i> ${signed(total)}</p>
      <p class="hint">
        ${count === 1 ? 'One position' : `${count} positions`}, ${percent(returnPct)} of
        ${count === 1 ? 'its' : 'their'} margin
      </p>
      <dl>
        ${best === null ? null : html`<${Line} what="Best call" call=${best} />`}
        ${worst === null ? null : html`<${Line} what="Worst call" call=${worst} />`}
      </dl>
      <button class="small" disabled=${isBusy} onClick=${() => void share()}>Share the card</button>
    </section>
  `
}

const Line = ({ what, call }: { what: string; call: Call }) => html`
  <div>
    <dt>${what}</dt>
    <dd>${call.name} <b class="num ${way(call.pnl)}">${signed(call.pnl)}</b></dd>
  </div>
`

/** With the share sheet of the phone where there is one, otherwise as a download. The link invites. */
async function shareCard(card: FullTime): Promise<void> {
  const [picture, { url }] = await Promise.all([drawCard(card), api.referrals()])
  const file = new File([picture], 'touchline.png', { type: 'image/png' })
  const data = { files: [file], title: 'Touchline', text: card.score, url: new URL(url, location.origin).href }
  if (typeof navigator.canShare === 'function' && navigator.canShare(data)) {
    // Whoever closes the sheet has not failed.
    await navigator.share(data).catch((error: unknown) => {
      if (!(error instanceof DOMException && error.name === 'AbortError')) throw error
    })
    return
  }
  const link = document.createElement('a')
  link.href = URL.createObjectURL(picture)
  link.download = 'touchline.png'
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/** The card behind a button, for lists. */
export function FullTimeButton({ matchId, purse }: { matchId: number; purse: Purse }) {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  return html`
    <button ref=${button} class="small" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
      ${isOpen ? 'Close the card' : 'Show the card'}
    </button>
    ${isOpen ? html`<${FullTimeCard} matchId=${matchId} purse=${purse} />` : null}
  `
}
