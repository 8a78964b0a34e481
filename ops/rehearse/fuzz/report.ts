/** The result of a campaign, in words. */
import type { Holdings } from '../rig/inspector.ts'

export interface Found {
  readonly seed: number
  readonly requests: number
  readonly seconds: number
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>
  /** Requests by route, and how many of these succeeded. */
  readonly routes: ReadonlyMap<string, { asked: number; done: number }>
  readonly sockets: { readonly opened: number; readonly sent: number; readonly received: number }
  /** After the first tenth of the requests, and at the end. */
  readonly memory: readonly [Holdings, Holdings]
  readonly failures: readonly string[]
}

const MIB = 2 ** 20

export function describe({ seed, requests, seconds, statuses, routes, sockets, memory, failures }: Found): string {
  const byStatus = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  const never = [...routes].filter(([, { done }]) => done === 0).map(([route]) => route)
  const [before, after] = memory.map(({ heap, resident }) => `${mib(heap)} (${mib(resident)} resident)`)
  return [
    `${requests} requests with seed ${seed} in ${Math.round(seconds)} s: ${Math.round(requests / seconds)} a second`,
    `answers by status: ${byStatus.join(', ')}`,
    `routes: ${routes.size} asked, ${routes.size - never.length} of them with success${never.length > 0 ? `; never: ${never.join(', ')}` : ''}`,
    `sockets: ${sockets.opened} opened, ${sockets.sent} messages sent, ${sockets.received} received`,
    `heap after a collection: ${before} after a tenth, ${after} at the end`,
    failures.length === 0 ? 'nothing was wrong' : `${failures.length} failures, listed above`,
  ].join('\n')
}

const mib = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`
