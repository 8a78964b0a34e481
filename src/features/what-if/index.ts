/** What if: settings tried on recordings before they are in force, never on the event loop of matches. */
import { MINUTE_MS } from '../../../actors/kernel/world.ts'
import type { Feature, Opened } from '../feature.ts'
import { type WhatIfPorts, whatIfSettings } from './routes.ts'
import { WhatIf } from './what-if.ts'

export const whatIfApi = (ports: WhatIfPorts): Opened => ({
  routes: [(deps, gates) => whatIfSettings({ ...deps, ...ports }, gates)],
})

export const whatIf: Feature = {
  name: 'what-if',
  open: ({ library }) => whatIfApi({ whatIf: new WhatIf({ library, withinMs: MINUTE_MS }) }),
}
