/** When a match may end: full time that has held, a final whistle, or a match that will not be played. */
import { REPLAY_CONFIRM_UPDATES } from '../../actors/kernel/limits.ts'
import type { MatchInfo } from '../../actors/match/messages.ts'
import type { Committed } from './committed.ts'
import { hold, same } from './violation.ts'

/** Checks one step of a match as a whole. */
export function checkEnding(before: MatchInfo | undefined, now: MatchInfo, { batch, rules }: Committed): void {
  if (before === undefined) return
  hold('settled', before.settledAt === null, () => `match ${now.matchId} changes after it has settled`)
  if (before.settling !== null) {
    const still = [now.settling, now.phase, now.feedSeq]
    same('settlement', still, [before.settling, before.phase, before.feedSeq], `match ${now.matchId} while it settles`)
    return
  }
  const ended = now.phase === 'ended'
  // Only updates confirm a live match, so their time counts; the server's clock may be seconds behind it.
  const at = now.replay ? batch.at : (now.sourceAt ?? batch.at)
  const since = before.phase === 'ended' && before.endedAt !== null ? before.endedAt : at
  same('settlement', now.endedAt, ended ? since : null, `when match ${now.matchId} ended`)
  if (now.settling === null) return
  const how = now.phase === 'off' ? 'void' : 'full_time'
  same('settlement', now.settling, how, `how match ${now.matchId} settles`)
  const updates = now.feedSeq - (now.endedSeq ?? now.feedSeq)
  const held = at - since >= rules.settlementConfirmMs || (now.replay && updates >= REPLAY_CONFIRM_UPDATES)
  hold('settlement', now.phase !== 'ended' || held, () => `match ${now.matchId} settles before full time has held`)
  const over = ended || now.phase === 'final' || now.phase === 'off'
  hold('settlement', over, () => `match ${now.matchId} settles while it is ${now.phase}`)
}
