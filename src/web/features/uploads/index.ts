/** Uploads, in the library of the control room. */
import type { PageFeature } from '../feature.ts'

export const uploads: PageFeature = {
  replays: { library: async () => (await import('./view.ts')).Uploads },
}
