/** Followed players and alerts as the routes see them, in memory: two of each are the most. */
import type { FixtureId, InstrumentId } from '../../actors/kernel/ids.ts'
import { price } from '../../actors/kernel/micros.ts'
import type { Instant } from '../../actors/kernel/world.ts'
import { KINDS, type Kind } from '../../src/features/watchlist/news.ts'
import type { PriceAlert } from '../../src/features/watchlist/store.ts'
import type { FeaturePorts } from './feature-parts.ts'

export const ALERT = '0197f2a0-9b8c-7d1e-8f2a-3b4c5d6e7f80'
const NOW = price(200_000_000)

export function watchlistPort(player: InstrumentId, now: Instant): FeaturePorts['watchlists'] {
  const followed = new Set<InstrumentId>()
  const alerts = new Map<string, PriceAlert>()
  const reminders = new Set<FixtureId>()
  let kinds: readonly Kind[] = KINDS
  return {
    list: async () => ({
      kinds,
      players: [...followed].map((instrumentId) => ({ instrumentId, name: 'A. Striker', price: NOW, since: now })),
      alerts: [...alerts.values()],
      reminders: [...reminders],
    }),
    choose: async (_user, chosen) => void (kinds = chosen),
    follow: async (_user, id) => {
      if (id !== player) return id.endsWith('f') ? 'full' : 'unknown'
      followed.add(id)
      return 'followed'
    },
    unfollow: async (_user, id) => void followed.delete(id),
    alert: async (_user, instrumentId, level) => {
      if (instrumentId !== player) return { kind: instrumentId.endsWith('f') ? 'full' : 'unknown' }
      if (level === NOW) return { kind: 'reached', price: NOW }
      const alert = { id: ALERT, instrumentId, player: 'A. Striker', level, isAbove: level > NOW, createdAt: now }
      alerts.set(ALERT, alert)
      return { kind: 'made', alert }
    },
    remind: async (_user, match) => {
      reminders.add(match)
      return 'reminded'
    },
    forget: async (_user, match) => void reminders.delete(match),
    removeAlert: async (_user, id) => alerts.delete(id),
  }
}
