/** What a setting would do to running matches, as the API shows it. */
import type { z } from '@hono/zod-openapi'
import { decimal } from '../../../../actors/kernel/micros.ts'
import { movePpm, type RuleEffect } from '../../../../actors/match/rule-change.ts'
import type { MatchEffectBody } from '../../admin-schemas.ts'
import { PPM_PER_PERCENT } from '../../json.ts'

/** What matters of the effects on all matches. */
export interface Sum {
  readonly maxMovePct: number
  readonly moves: number
  readonly closes: number
  readonly unknownMatches: readonly number[]
}

export function summed(effects: readonly RuleEffect[]): Sum {
  const moves = effects.flatMap((effect) => effect.moves)
  return {
    maxMovePct: moves.reduce((most, move) => Math.max(most, movePpm(move)), 0) / PPM_PER_PERCENT,
    moves: moves.length,
    closes: effects.reduce((sum, { closes }) => sum + closes, 0),
    unknownMatches: effects.flatMap(({ known, matchId }) => (known ? [] : [Number(matchId)])),
  }
}

export const effectJson = (effect: RuleEffect): z.output<typeof MatchEffectBody> => ({
  matchId: Number(effect.matchId),
  known: effect.known,
  closes: effect.closes,
  moves: effect.moves.map((move) => ({
    instrumentId: move.instrumentId,
    name: move.name,
    from: decimal(move.from),
    to: decimal(move.to),
    movePct: movePpm(move) / PPM_PER_PERCENT,
  })),
})
