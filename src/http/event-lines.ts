/** The facts of the event stream as JSON: what the NDJSON of admins and the webhooks have in common. */
import { z } from '@hono/zod-openapi'
import { decimal } from '../../actors/kernel/micros.ts'
import type { CommittedEvent, Earned } from '../../actors/community/committed-event.ts'
import type { StreamEvent } from '../../db/event-stream.ts'
import { cursorsOf } from './cursors.ts'
import { timestamp } from './json.ts'

/** The name of each kind of event, as receivers choose it. A name never changes. */
export const EVENT_TYPES = {
  opened: 'position.opened',
  margin_warned: 'position.margin_warned',
  closed: 'position.closed',
  fill_moved: 'position.moved',
  corrected: 'position.corrected',
  voided: 'position.voided',
  match_settled: 'match.settled',
} as const satisfies Record<CommittedEvent['kind'], string>

export const eventCursors = cursorsOf('events', z.tuple([z.int().min(1), z.int().min(0), z.int().min(0)]), [1, 0, 0])

/** Why a place is refused that a stream has not reached, which after a restore would lose what comes until then. */
export const BEYOND_END = 'lies beyond the end of the stream, as after a restore: leave it out to begin again'

/** An event as receivers see it. The same event is the same JSON whenever it is sent. */
export const eventJson = ({ matchId, seq, n, at, event, after }: StreamEvent) => ({
  id: `${matchId}/${seq}/${n}`,
  type: EVENT_TYPES[event.kind],
  cursor: eventCursors.write(after),
  matchId: Number(matchId),
  at: timestamp(at),
  ...factsOf(event),
})

/** The event as a line of NDJSON. */
export const eventLine = (event: StreamEvent): string => `${JSON.stringify(eventJson(event))}\n`

const earnedJson = ({ pnl, baseMove }: Earned) => ({ realizedPnl: decimal(pnl), baseMove: decimal(baseMove) })

function factsOf(event: CommittedEvent): object {
  if (event.kind === 'match_settled') return {}
  const owned = { userId: event.userId, purse: event.purse }
  if (event.kind === 'opened') return owned
  const position = {
    ...owned,
    positionId: event.positionId,
    instrumentId: event.instrumentId,
    direction: event.direction,
    lotSize: decimal(event.lots),
    margin: decimal(event.margin),
  }
  if (event.kind === 'margin_warned') return { ...position, lostPct: event.lostPct }
  if (event.kind === 'fill_moved') return { ...position, from: decimal(event.from), to: decimal(event.to) }
  const closing = { ...position, openedAt: timestamp(event.openedAt), closedBy: event.by }
  switch (event.kind) {
    case 'closed':
      return { ...closing, ...earnedJson(event), voidReason: event.voidReason, partOf: event.partOf ?? null }
    case 'corrected':
      return { ...closing, ...earnedJson(event), before: earnedJson(event.before) }
    case 'voided':
      return {
        ...closing,
        closedAt: timestamp(event.closedAt),
        before: earnedJson(event.before),
        partOf: event.partOf ?? null,
      }
  }
}
