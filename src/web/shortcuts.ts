/**
 * Keys of the trading page: they find a player, go up and down the list, choose a way and reach a position. None sends
 * an order. `aria-keyshortcuts` announces them where they act.
 */
import { signal } from '@preact/signals'
import { isTrading } from './route.ts'
import { device } from './storage.ts'

/** Whether the list of keys is shown. */
export const isHelpOpen = signal(false)

const OFF = 'touchline.keysOff'
/** Off for who speaks to the page or presses keys by mistake: single letters are then no keys (WCAG 2.1.4). */
export const areKeysOn = signal(device.get(OFF) === null)

export function turnKeys(on: boolean): void {
  areKeysOn.value = on
  if (on) device.remove(OFF)
  else device.set(OFF, '1')
}

const reach = (selector: string): void => document.querySelector<HTMLElement>(selector)?.focus()
const press = (selector: string): void => document.querySelector<HTMLElement>(selector)?.click()

function step(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('.player')]
  const at = rows.findIndex((row) => row.ariaCurrent === 'true')
  const next = rows[at + by]
  next?.click()
  next?.scrollIntoView({ block: 'nearest' })
}

const ACTS: Readonly<Record<string, () => void>> = {
  '/': () => reach('.market input[type=search]'),
  j: () => step(1),
  k: () => step(-1),
  l: () => press('.way.long'),
  s: () => press('.way.short'),
  x: () => reach('.held [aria-current] .close:enabled'),
  '?': () => (isHelpOpen.value = !isHelpOpen.peek()),
  Escape: () => (isHelpOpen.value = false),
}

/** Call it once. */
export function startShortcuts(): void {
  document.addEventListener('keydown', (event) => {
    const act = ACTS[event.key.length === 1 ? event.key.toLowerCase() : event.key]
    const isTyping = event.target instanceof HTMLElement && event.target.closest('input, select, textarea') !== null
    if (event.key === 'Escape' && event.target instanceof HTMLInputElement) event.target.blur()
    if (act === undefined || isTyping || !isTrading.peek()) return
    if (!areKeysOn.peek() && event.key !== 'Escape') return
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key !== 'Escape') event.preventDefault()
    act()
  })
}
