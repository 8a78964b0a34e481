/** The order being written in the ticket; the chart shows its levels. */
import { signal } from '@preact/signals'
import type { Direction } from '../client/wire.ts'

export const draft = {
  direction: signal<Direction>('long'),
  lots: signal('0.5'),
  stopLoss: signal<number | null>(null),
  takeProfit: signal<number | null>(null),
}
