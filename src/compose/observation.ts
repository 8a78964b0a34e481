/** Metrics, and traces where a collector is configured. */
import { type Measuring, startMeasuring } from '../observe/metrics.ts'
import { startTracing, type Tracing } from '../observe/tracing.ts'
import type { Base } from './base.ts'

export interface Observation {
  readonly measuring: Measuring
  /** Null without a collector. */
  readonly tracing: Tracing | null
}

export async function startObservation({ config, processId, log, lifecycle }: Base): Promise<Observation> {
  const tracing =
    config.tracing === null ? null : await startTracing({ config: config.tracing, roles: config.roles, processId, log })
  if (tracing !== null) lifecycle.add({ name: 'tracing', kind: 'store', stop: () => tracing.stop() })
  const measuring = startMeasuring()
  lifecycle.add({ name: 'metrics', kind: 'store', stop: () => measuring.stop() })
  return { measuring, tracing }
}
