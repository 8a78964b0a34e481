/** What moved a price over a stretch of time, summed by cause: each event, the rest of the play, orders. */
import { z } from '@hono/zod-openapi'
import type { ReasonEvent } from '../../actors/market/move-reason.ts'
import type { TickReason } from '../../actors/market/reason-words.ts'
import { partsJson, ReasonBody } from './reason-schema.ts'

/** Most events of one answer; what the others did is in `other`. */
const EVENTS_MAX = 8

export const MoveSumsBody = z
  .object({
    events: z.array(z.object({ reason: ReasonBody, amount: z.number().openapi({ example: 11.4 }) })).openapi({
      description: `Events of the match by what they did, largest first; at most ${EVENTS_MAX}.`,
    }),
    play: z.number().openapi({ description: 'Minutes played, passes, duels and the rating.', example: -0.8 }),
    crowd: z.number().openapi({ description: 'Orders of traders.', example: 0.02 }),
    other: z.number().openapi({ description: 'Rules, and what is no longer stored in detail.', example: 0 }),
  })
  .openapi({ description: 'How far each cause moved the price, in units. They add up to all moves.' })

type Move = Parameters<typeof partsJson>[0] & { readonly parts: { readonly event: ReasonEvent | null } | null }

const nameOf = ({ kind, minute, extraMinute, undone }: ReasonEvent): string =>
  `${kind} ${minute} ${extraMinute} ${undone}`

/** `wordsFor`: the reason that an event is. */
export function sumsJson(moves: readonly Move[], wordsFor: (event: ReasonEvent) => TickReason) {
  const events = new Map<string, { event: ReasonEvent; by: number }>()
  const sums = { play: 0, crowd: 0, other: 0 }
  for (const move of moves) {
    const parts = partsJson(move)
    sums.play += parts.minutes + parts.statistics
    sums.crowd += parts.crowd
    sums.other += parts.other
    const event = move.parts?.event ?? null
    if (event === null) sums.other += parts.event
    else events.set(nameOf(event), { event, by: (events.get(nameOf(event))?.by ?? 0) + parts.event })
  }
  const ranked = [...events.values()].toSorted((a, b) => Math.abs(b.by) - Math.abs(a.by))
  const rest = ranked.slice(EVENTS_MAX).reduce((sum, { by }) => sum + by, 0)
  return {
    events: ranked.slice(0, EVENTS_MAX).map(({ event, by }) => ({ reason: wordsFor(event), amount: micro(by) })),
    play: micro(sums.play),
    crowd: micro(sums.crowd),
    other: micro(sums.other + rest),
  }
}

/** Sums of decimals are off by a little. */
const micro = (amount: number): number => Math.round(amount * 1e6) / 1e6
