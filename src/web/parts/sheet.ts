/** The ticket in a half sheet over the match: the pitch stays in view. */
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { tradePrice } from '../account.ts'
import { pickHere } from '../address.ts'
import { units } from '../format.ts'
import { PAGE_FEATURES } from '../features/index.ts'
import { html } from '../html.ts'
import { selected } from '../market.ts'
import { Icon } from './icons.ts'
import { Ticket } from './ticket.ts'
import { words } from '../words.ts'

const CARDS = PAGE_FEATURES.flatMap(({ cards }) => cards?.player ?? [])
const isOpen = signal(false)

/** Shows a player's ticket without leaving the match. */
export function openSheet(id: string): void {
  pickHere(id)
  isOpen.value = true
}

export function TicketSheet() {
  // It belongs to one visit of the match.
  useEffect(() => () => void (isOpen.value = false), [])
  return isOpen.value && selected.value !== null ? html`<${Sheet} />` : null
}

const close = (): void => void (isOpen.value = false)

function Sheet() {
  const box = useRef<HTMLElement>(null)
  const instrument = selected.value
  useEffect(() => {
    const before = document.activeElement
    box.current?.focus({ preventScroll: true })
    // What was tapped stays in view above the sheet.
    before?.scrollIntoView({ block: 'nearest' })
    // A button that is pressed and then off has lost the focus, so the whole page is heard.
    const leave = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') close()
    }
    document.addEventListener('keydown', leave)
    // The focus goes back to the shirt.
    return () => {
      document.removeEventListener('keydown', leave)
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  if (instrument === null) return null
  const { id, name } = instrument
  return html`
    <section class="sheet" role="dialog" aria-labelledby="sheet-title" tabindex="-1" ref=${box}>
      <header>
        <h2 id="sheet-title">${name}</h2>
        ${CARDS.map((Card) => html`<${Card} key=${id} instrumentId=${id} place="sheet" />`)}
        <b class="num">${units(tradePrice(id))}</b>
        <a href="#/trade/${id}">${words.pitch.chart}</a>
        <button class="bare" aria-label=${words.common.dismiss} onClick=${close}><${Icon} name="close" /></button>
      </header>
      <${Ticket} key=${id} instrument=${instrument} isHeld />
    </section>
  `
}
