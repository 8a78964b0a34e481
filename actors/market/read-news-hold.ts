/** Reads the stored hold that news puts on an instrument. */
import { price } from '../kernel/micros.ts'
import { as, boolean, fieldsOf, integer, listOf, nullable, type Reader } from '../kernel/read.ts'
import { instant } from '../kernel/world.ts'
import type { NewsHold } from './instrument.ts'

const readInstant = as(integer, instant)

const readSpan: Reader<NonNullable<NewsHold['unnamed']>> = (value, path) => {
  const field = fieldsOf(value, path)
  return { from: field('from', readInstant), to: field('to', readInstant) }
}

export const readNewsHold: Reader<NewsHold> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    since: field('since', readInstant),
    windowFrom: field('windowFrom', readInstant),
    unnamed: field('unnamed', nullable(readSpan)),
    names: field('names', boolean),
    baseBefore: field('baseBefore', as(integer, price)),
    changedSeq: field('changedSeq', integer),
    agreedSeq: field('agreedSeq', nullable(integer)),
    eventIds: field('eventIds', listOf(integer)),
    closesFrom: field('closesFrom', readInstant),
    opensFrom: field('opensFrom', readInstant),
    ended: field('ended', nullable(readInstant)),
  }
}
