/** Reads the stored hold that news puts on an instrument. */
import { price } from '../kernel/micros.ts'
import { as, fieldsOf, integer, listOf, type Reader } from '../kernel/read.ts'
import { instant } from '../kernel/world.ts'
import type { NewsHold } from './instrument.ts'

const readInstant = as(integer, instant)

export const readNewsHold: Reader<NewsHold> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    since: field('since', readInstant),
    windowFrom: field('windowFrom', readInstant),
    baseBefore: field('baseBefore', as(integer, price)),
    changedSeq: field('changedSeq', integer),
    eventIds: field('eventIds', listOf(integer)),
    closesFrom: field('closesFrom', readInstant),
    opensFrom: field('opensFrom', readInstant),
  }
}
