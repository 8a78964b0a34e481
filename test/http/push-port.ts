/** Browsers as the routes see them, in memory. */
import type { PushSubscription } from '../../src/features/push/store.ts'
import type { FeaturePorts } from './feature-parts.ts'

export const SUBSCRIPTION = '0197f2a0-7a8b-7c1d-9e2f-3a4b5c6d7e8f'

export function pushPort(): FeaturePorts['push'] {
  const subscribed = new Map<string, PushSubscription>()
  return {
    publicKey: 'BPx0n2Hg9vQ7rYb3kTzWm1Lc8sNf5uJd6eAi4oXyKqZtRwVpMhGjUlCbEnSaFoI',
    problemOf: ({ hostname }) => (hostname === 'inside.example' ? 'must lead to a public address' : null),
    list: async () => [...subscribed.values()],
    subscribe: async (_user, { endpoint }, kinds, quiet) => {
      const one = { id: SUBSCRIPTION, endpoint, kinds, quiet }
      subscribed.set(endpoint, one)
      return one
    },
    unsubscribe: async (_user, id) => id === SUBSCRIPTION,
  }
}
