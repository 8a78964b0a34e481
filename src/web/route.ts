/** Where in the page somebody is; the address says it, so that back, forward and links work. */
import { computed, signal } from '@preact/signals'

/** `market`, `trade` and `positions` are three views of one page where there is room for all of them. */
const VIEWS = ['market', 'trade', 'positions', 'league', 'club', 'inbox', 'control'] as const
export type View = (typeof VIEWS)[number]

const path = signal(location.hash)

const parts = computed(() => path.value.replace(/^#\/?/, '').split('/'))

export const view = computed<View>(() => VIEWS.find((name) => name === parts.value[0]) ?? 'trade')
/** What follows the view: a part of the control room. */
export const section = computed(() => parts.value[1] ?? '')

export const isTrading = computed(() => view.value === 'market' || view.value === 'trade' || view.value === 'positions')

export function followAddress(): void {
  addEventListener('hashchange', () => (path.value = location.hash))
}

export function go(to: View): void {
  location.hash = `#/${to}`
}
