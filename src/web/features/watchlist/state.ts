/** Whom the user follows, and for which prices they wait. */
import { computed, signal } from '@preact/signals'
import type { Follows } from '../../client/wire.ts'
import { messageFor } from '../../error-messages.ts'
import { api } from '../../session.ts'
import { toast } from '../../toasts.ts'
import { wordsOf } from '../../words.ts'
import type { ChartLine } from '../feature.ts'
import { said } from './words.ts'

const own = wordsOf(said)

/** Null until it is loaded. */
export const follows = signal<Follows | null>(null)
export const followed = computed(() => new Set(follows.value?.players.map(({ instrumentId }) => instrumentId)))

export async function refreshFollows(): Promise<void> {
  follows.value = await api.follows()
}

/** The alert that the user is about to set; null while the form is closed. */
export const draft = signal<{ readonly instrumentId: string; readonly level: string } | null>(null)

/** The prices that the user waits for, on the chart. */
export function alertLines(instrumentId: string): readonly ChartLine[] {
  const set = follows.value?.alerts.filter((alert) => alert.instrumentId === instrumentId) ?? []
  const drafted = draft.value?.instrumentId === instrumentId ? Number(draft.value.level) : 0
  const lines = set.map(({ id, level }) => ({ key: `alert ${id}`, price: level, title: own.alertLine }))
  return drafted > 0 ? [...lines, { key: 'draft alert', price: drafted, title: own.alertAt }] : lines
}

/** With the form open, a tap on the chart chooses the price. */
export function chooseLevel(instrumentId: string, price: number): void {
  if (draft.value?.instrumentId === instrumentId) draft.value = { instrumentId, level: price.toFixed(2) }
}

/** Changes something and shows what is then; says so if it could not. */
export async function changeFollows(change: () => Promise<unknown>): Promise<boolean> {
  try {
    await change()
    await refreshFollows()
    return true
  } catch (error) {
    toast({ tone: 'bad', title: own.notChanged, text: messageFor(error) })
    return false
  }
}

/** An alert that has fired is gone. */
export function takeFired(message: Readonly<Record<string, unknown>>): void {
  const { notification } = message
  const isFired =
    typeof notification === 'object' &&
    notification !== null &&
    'type' in notification &&
    notification.type === 'price_reached'
  if (isFired) refreshFollows().catch(() => undefined) // the next change asks again
}
