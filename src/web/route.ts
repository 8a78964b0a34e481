/** The current view, kept in the address so that back, forward and links work. */
import { computed, signal } from '@preact/signals'
import { keepScroll } from './scroll.ts'

/** On a wide screen `market`, `trade` and `positions` are one page; on a phone they are three. */
const TRADING = ['market', 'trade', 'positions']

/** By name. */
const views = new Set([...TRADING, 'match', 'league', 'club', 'account', 'control'])

/** What an address without a view shows. */
const FIRST = matchMedia('(max-width: 760px)').matches ? 'match' : 'trade'

const path = signal(location.hash)

const partsOf = (hash: string): readonly string[] => hash.replace(/^#\/?/, '').split('/')
const parts = computed(() => partsOf(path.value))

function nameIn(hash: string): string {
  const [name = ''] = partsOf(hash)
  return views.has(name) ? name : FIRST
}

export const view = computed(() => nameIn(path.value))
/** The part of the address after the view: a section of the control room, the player of the trading page. */
export const section = computed(() => parts.value[1] ?? '')
/** What the section shows: a user of the control room, the purse that pays. Empty for none. */
export const item = computed(() => parts.value[2] ?? '')

export const isTrading = computed(() => TRADING.includes(view.value))

/** `more`: the names of the views of features. Called once, before a view is shown. */
export function followAddress(more: readonly string[]): void {
  for (const name of more) views.add(name)
  path.value = location.hash
  addEventListener('hashchange', () => (path.value = location.hash))
  // Another player on the same page moves nothing.
  keepScroll(window, (from, to) => TRADING.includes(nameIn(from)) && nameIn(from) === nameIn(to))
}

export function go(to: string): void {
  location.hash = `#/${to}`
}

/** Changes the address without a step for the back button, unless it leads elsewhere, which is about to be shown. */
export function replace(to: string): void {
  const [known, now] = [path.peek(), location.hash].map((hash) => String(partsOf(hash)))
  path.value = location.hash
  if (now !== known) return
  window.history.replaceState(window.history.state, '', `#/${to}`)
  path.value = location.hash
}
