/** The current view, kept in the address so that back, forward and links work. */
import { computed, signal } from '@preact/signals'

/** On a wide screen `market`, `trade` and `positions` are one page; on a phone they are three. */
const VIEWS = ['match', 'market', 'trade', 'positions', 'league', 'club', 'inbox', 'account', 'control'] as const
export type View = (typeof VIEWS)[number]

/** What an address without a view shows. */
const FIRST: View = matchMedia('(max-width: 760px)').matches ? 'match' : 'trade'

const path = signal(location.hash)

const parts = computed(() => path.value.replace(/^#\/?/, '').split('/'))

export const view = computed<View>(() => VIEWS.find((name) => name === parts.value[0]) ?? FIRST)
/** The part of the address after the view: a section of the control room. */
export const section = computed(() => parts.value[1] ?? '')
/** What the section shows: a user of the control room. Empty for none. */
export const item = computed(() => parts.value[2] ?? '')

export const isTrading = computed(() => view.value === 'market' || view.value === 'trade' || view.value === 'positions')

export function followAddress(): void {
  addEventListener('hashchange', () => (path.value = location.hash))
}

export function go(to: View): void {
  location.hash = `#/${to}`
}
