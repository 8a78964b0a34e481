/** The order being written in the ticket; the chart shows its levels. */
import { signal } from '@preact/signals'
import type { Direction } from '../client/wire.ts'

export const FIRST_STAKE = '50'

export const draft = {
  direction: signal<Direction>('long'),
  /** In units, as typed; the lots follow from it. */
  stake: signal(FIRST_STAKE),
  lots: signal('0'),
  stopLoss: signal<number | null>(null),
  takeProfit: signal<number | null>(null),
}
