/** What a setting would do to running matches, as the API shows it. */
import { z } from '@hono/zod-openapi'
import { decimal } from '../../../../actors/kernel/micros.ts'
import { movePpm, type RuleEffect } from '../../../../actors/match/rule-change.ts'
import { PPM_PER_PERCENT } from '../../json.ts'
import { instrumentIdText, priceNumber } from '../../schemas.ts'

const movePct = z.number().openapi({ description: 'Per cent of the price now.', example: 1.25 })

const MatchEffectBody = z
  .object({
    matchId: z.int().openapi({ description: 'Its fixture id.', example: 19_135_003 }),
    known: z.boolean().openapi({
      example: true,
      description:
        'False if the match cannot say: its process does not answer, or has had no update since it took the match over.',
    }),
    closes: z.int().openapi({ description: 'Positions that the moves would close.', example: 3 }),
    moves: z.array(
      z.object({
        instrumentId: instrumentIdText,
        name: z.string().openapi({ example: 'A. Striker' }),
        from: priceNumber,
        to: priceNumber,
        movePct,
      }),
    ),
  })
  .openapi('RuleEffect')

export const DryRunBody = z
  .object({
    key: z.string().openapi({ example: 'scoring.base.goal' }),
    dryRun: z.literal(true),
    maxMovePct: movePct,
    closes: z.int().openapi({ example: 3 }),
    needsForce: z
      .boolean()
      .openapi({ example: false, description: 'Whether the change is refused without `force: true`.' }),
    matches: z.array(MatchEffectBody).openapi({ description: 'The running matches that it would change.' }),
  })
  .openapi('SettingDryRun')

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
