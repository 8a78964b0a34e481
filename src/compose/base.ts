/** What every builder is given. */
import type { World } from '../../actors/kernel/world.ts'
import type { Report } from '../../rooms/report.ts'
import type { Config } from '../config.ts'
import type { Log } from '../observe/log.ts'
import type { Lifecycle } from './lifecycle.ts'

export interface Base {
  readonly config: Config
  readonly world: World
  readonly log: Log
  readonly report: Report
  /** Builders add what has to be started or stopped as soon as they have made it. */
  readonly lifecycle: Lifecycle
  /** Names this process in leases, on the bus and in traces. */
  readonly processId: string
  /** Resolves when this time, in milliseconds, has passed: parts own no timers. */
  readonly pause: (ms: number) => Promise<unknown>
}
