/** What if: a section of the control room. */
import type { PageFeature } from '../feature.ts'

export const whatIf: PageFeature = {
  sections: [
    {
      key: 'what-if',
      label: 'What if',
      load: async () => (await import('./view.ts')).WhatIfView,
      triesSettings: true,
    },
  ],
}
