/** A player as the routes see them: one match with a goal, the next announced, held by Bob. */
import { fixtureId } from '../../actors/kernel/ids.ts'
import { HOUR_MS, type Instant, instant } from '../../actors/kernel/world.ts'
import type { Position } from '../../actors/position/position.ts'
import { info, p, u } from '../support/fixtures.ts'
import type { FeaturePorts } from './feature-parts.ts'

export const profilePort = ({ instrumentId }: Position, now: Instant): FeaturePorts['profiles'] => ({
  played: async (id) =>
    id === instrumentId
      ? [
          {
            info: info({ settledAt: now }),
            from: p(200),
            to: p(211),
            baseBy: u(10),
            told: [
              {
                event: { kind: 'goal', minute: 20, extraMinute: null, undone: false },
                byEvent: u(12),
                byMinutes: u(-1),
                byStatistics: 0,
              },
            ],
          },
        ]
      : [],
  beginning: async () => ({ start: p(203.6), anchor: p(200), expectedGoals: 1.4 }),
  next: async () => info({ matchId: fixtureId(90_002), startsAt: instant(now + HOUR_MS), phase: 'scheduled' }),
  holders: async () => [{ username: 'bob', direction: 'short', league: 'Friends' }],
})
