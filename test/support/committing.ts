/** A store of matches whose commits a test watches, delays or fails. */
import type { MatchStore } from '../../actors/match/store.ts'

/** It commits like this, and answers everything else as `store` does. */
export const committing = (store: MatchStore, commit: MatchStore['commit']): MatchStore => ({
  load: (id) => store.load(id),
  histories: (ids) => store.histories(ids),
  recall: (user, key) => store.recall(user, key),
  commit,
})
