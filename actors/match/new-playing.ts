/**
 * A fixture that comes back: one that was put off in play, or abandoned, and is played again under its number. Its void
 * positions stay void; its players start again, and are traded as in any other match.
 */
import type { FixturePlayer, SaidFixture } from '../market/fixture.ts'
import { isInPlay, phaseOf, VOIDED } from '../market/phase.ts'
import { EMPTY_PRICING } from '../market/pricing.ts'
import type { MatchInfo } from './messages.ts'
import { type Draft, type MatchView, newMatch } from './state.ts'

/**
 * Whether a snapshot shows a new playing of a match that was declared void. One that an operator has voided comes back
 * at a later kick-off alone: its provider may still show it in play.
 */
export function comesBack(info: MatchInfo, snapshot: SaidFixture): boolean {
  const phase = phaseOf(snapshot)
  const isMeant = info.state !== VOIDED || (snapshot.startsAt ?? info.startsAt) > info.startsAt
  return canComeBack(info) && isMeant && (phase === 'scheduled' || isInPlay(phase))
}

/** Whether a match is over only until its fixture is played again. */
export const canComeBack = ({ settling, settledAt, replay }: MatchInfo): boolean =>
  settling === 'void' && settledAt !== null && !replay

/** The players of the playing before, as a line-up would name them. */
export const formerPlayers = (view: Pick<MatchView, 'instruments'>): readonly FixturePlayer[] =>
  Array.from(view.instruments(), ({ id, playerId, name, side, role, jersey, starter }) => ({
    playerId,
    instrumentId: id,
    name,
    side,
    role,
    jersey,
    starter,
    details: null,
  }))

/** Forgets the playing before. Its players must then be listed again. */
export function beginPlaying(draft: Draft, snapshot: SaidFixture): void {
  const { info } = newMatch(snapshot, { replay: false, purse: draft.info.purse })
  draft.emit({ kind: 'match_updated', info, pricing: EMPTY_PRICING })
}
