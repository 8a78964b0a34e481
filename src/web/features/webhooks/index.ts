/** Webhooks, a section of the control room. */
import type { PageFeature } from '../feature.ts'

export const webhooks: PageFeature = {
  sections: [{ key: 'webhooks', label: 'Webhooks', load: async () => (await import('./view.ts')).Webhooks }],
}
