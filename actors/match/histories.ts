/** The histories of the players that a batch is about to list. */
import type { InstrumentId } from '../kernel/ids.ts'
import type { Entry } from './entry.ts'
import { type FeedTerms, unlisted } from './feed-updates.ts'
import { comesBack, formerPlayers } from './new-playing.ts'
import type { MatchView } from './state.ts'
import type { MatchStore } from './store.ts'

/** Of players who start at their anchors only the anchors count. */
export async function historiesFor(
  batch: readonly Entry[],
  state: MatchView,
  store: Pick<MatchStore, 'histories'>,
): Promise<FeedTerms['histories']> {
  const ids = new Set<InstrumentId>()
  const atAnchors = new Set<InstrumentId>()
  for (const { command } of batch) {
    if (command.kind !== 'feed_update') continue
    const { players } = command.snapshot
    const fresh = comesBack(state.info, command.snapshot)
      ? [...players, ...formerPlayers(state)]
      : unlisted(state, [...players, ...state.info.squad])
    for (const { instrumentId } of fresh) {
      ids.add(instrumentId)
      if (command.atAnchors === true) atAnchors.add(instrumentId)
    }
  }
  if (ids.size === 0) return new Map()
  const found = await store.histories([...ids])
  if (atAnchors.size === 0) return found
  return new Map(
    [...found].map(([id, history]) => [id, atAnchors.has(id) ? { ...history, last: null, past: null } : history]),
  )
}
