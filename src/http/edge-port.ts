/** What every request passes, on both addresses. */
import type { World } from '../../actors/kernel/world.ts'
import type { CookiePolicy } from '../auth/cookies.ts'
import type { Log } from '../observe/log.ts'
import type { Tracing } from '../observe/tracing.ts'
import type { MetricsAccess } from '../variables.ts'
import type { FaultOf } from './answers.ts'
import type { ObserveRequest } from './edge.ts'

/** Each named check resolves if its part of the server works and rejects if it does not. */
export type ReadyChecks = Readonly<Record<string, () => Promise<void>>>

/** The results of these checks, by name. */
export type Readiness = () => Promise<readonly (readonly [part: string, result: 'ok' | 'failed'])[]>

export interface Metrics {
  readonly access: MetricsAccess
  readonly contentType: string
  /** All metrics in the text format of Prometheus. */
  readonly text: () => Promise<string>
  readonly observe: ObserveRequest
}

export interface EdgeDeps {
  readonly world: World
  readonly log: Log
  readonly cookies: CookiePolicy
  readonly corsOrigins: readonly string[]
  /** How many proxies of the deployment stand before this process. */
  readonly trustedProxies: number
  readonly readiness: Readiness
  readonly metrics: Metrics
  /** Null if tracing is off. */
  readonly tracing: Tracing | null
  readonly faultOf: FaultOf
}
