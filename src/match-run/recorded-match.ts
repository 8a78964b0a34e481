/** A recorded match as a run plays it: the snapshots in its payloads, and what its players were worth beforehand. */
import { type FixtureId, fixtureId, type InstrumentId, playerId, type PlayerId } from '../../actors/kernel/ids.ts'
import { microsNearest, price } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import type { SaidFixture } from '../../actors/market/fixture.ts'
import type { InstrumentHistory } from '../../actors/match/store.ts'
import { FRAME_MS, type Recording } from '../../actors/replay/recording.ts'
import { instrumentIdFor } from '../provider/instrument-ids.ts'
import { parseFixture } from '../provider/snapshot.ts'

export interface RecordedMatch {
  readonly id: FixtureId
  /** FRAME_MS of match time apart. */
  readonly snapshots: readonly SaidFixture[]
  readonly histories: ReadonlyMap<InstrumentId, InstrumentHistory>
  /** The first payload that cannot be read. */
  readonly unread: { readonly index: number; readonly reason: string } | null
}

/** When the first update of every run is received. */
export const RUN_STARTS_AT = instant(1_840_000_000_000)

/** `namespace` names the players apart from those of other runs. A payload that cannot be read is left out, as live. */
export function recordedMatch(
  { frames, anchors }: Pick<Recording, 'frames' | 'anchors'>,
  namespace: string,
): RecordedMatch {
  const ids = new Map<PlayerId, InstrumentId>()
  const idOf = (player: PlayerId): InstrumentId => {
    const id = ids.get(player) ?? instrumentIdFor(namespace, player)
    ids.set(player, id)
    return id
  }
  let unread: RecordedMatch['unread'] = null
  const snapshots = frames.flatMap((payload, index) => {
    const receivedAt = instant(RUN_STARTS_AT + index * FRAME_MS)
    const parsed = parseFixture(payload, { instrumentIdOf: idOf, receivedAt })
    if (parsed.ok) return [parsed.snapshot]
    unread ??= { index, reason: parsed.reason }
    return []
  })
  const histories = Object.entries(anchors).map(([player, units]) => {
    const anchor = price(microsNearest(units))
    return [idOf(playerId(Number(player))), { last: null, anchor, past: null, heldBy: null }] as const
  })
  return { id: snapshots[0]?.fixtureId ?? fixtureId(1), snapshots, histories: new Map(histories), unread }
}
