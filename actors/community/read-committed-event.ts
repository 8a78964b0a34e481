/**
 * Reads the stored events of a commit. An event that this version does not know is refused, not skipped: a process of
 * the newer version that wrote it will react to it.
 */
import { instrumentId, positionId, userId } from '../kernel/ids.ts'
import { lots, money, price } from '../kernel/micros.ts'
import { readPurse } from '../kernel/purse.ts'
import { as, boolean, fieldsOf, integer, keyOf, listOf, nullable, oneOf, type Reader, text } from '../kernel/read.ts'
import { instant } from '../kernel/world.ts'
import { CLOSED_BY, DIRECTIONS, type Parted } from '../position/position.ts'
import type { CommittedEvent, Earned } from './committed-event.ts'

const KINDS: Readonly<Record<CommittedEvent['kind'], true>> = {
  opened: true,
  margin_warned: true,
  closed: true,
  fill_moved: true,
  corrected: true,
  voided: true,
  match_settled: true,
}

const readEarned: Reader<Earned> = (value, path) => {
  const field = fieldsOf(value, path)
  return { pnl: field('pnl', as(integer, money)), baseMove: field('baseMove', as(integer, money)) }
}

const readParted: Reader<Parted> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    lots: field('lots', as(integer, lots)),
    margin: field('margin', as(integer, money)),
    ...readEarned(value, path),
  }
}

const readCommittedEvent: Reader<CommittedEvent> = (value, path) => {
  const field = fieldsOf(value, path)
  const kind = field('kind', keyOf(KINDS))
  if (kind === 'match_settled') return { kind }
  const owned = { userId: field('userId', as(text, userId)), purse: field('purse', readPurse) }
  if (kind === 'opened') return { kind, ...owned }
  const position = {
    ...owned,
    positionId: field('positionId', as(text, positionId)),
    instrumentId: field('instrumentId', as(text, instrumentId)),
    direction: field('direction', oneOf(DIRECTIONS)),
    lots: field('lots', as(integer, lots)),
    margin: field('margin', as(integer, money)),
  }
  const part = field('partOf', nullable(as(text, positionId)))
  const partOf = part === null ? {} : { partOf: part }
  switch (kind) {
    case 'margin_warned':
      return { kind, ...position, lostPct: field('lostPct', oneOf([50, 80])) }
    case 'fill_moved':
      return { kind, ...position, from: field('from', as(integer, price)), to: field('to', as(integer, price)) }
    case 'voided': {
      const others = field('others', nullable(as(integer, money)))
      return {
        kind,
        ...position,
        ...partOf,
        ...(others === null ? {} : { others }),
        openedAt: field('openedAt', as(integer, instant)),
        closedAt: field('closedAt', as(integer, instant)),
        by: field('by', oneOf(CLOSED_BY)),
        before: field('before', readEarned),
      }
    }
    case 'closed':
    case 'corrected': {
      const openedAt = field('openedAt', as(integer, instant))
      const closing = { ...position, ...readEarned(value, path), openedAt, by: field('by', oneOf(CLOSED_BY)) }
      const parted = field('parted', nullable(readParted))
      const parts = { ...partOf, ...(parted === null ? {} : { parted }) }
      if (kind === 'corrected') {
        const waits = field('waits', nullable(boolean)) === true ? { waits: true as const } : {}
        return { kind, ...closing, before: field('before', readEarned), ...parts, ...waits }
      }
      const voidReason = field('voidReason', nullable(oneOf(['operator'])))
      return { kind, ...closing, ...parts, voidReason }
    }
  }
}

export const readCommittedEvents = listOf(readCommittedEvent)
