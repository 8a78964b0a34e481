/** The search for the limit of a server, and its result. */
import { figure } from '../../bench/report.ts'

/** One step of the search. */
export interface Step {
  readonly sockets: number
  readonly p99: number
  readonly failures: number
  readonly prices: number
  readonly isFine: boolean
}

type Tried = Pick<Step, 'sockets' | 'isFine'>

export const [SOCKETS_MIN, SOCKETS_MAX] = [100, 40_000]
const GROWTH = 1.5

/** The largest number that succeeded, 0 if none did, and the smallest that was too much. */
const boundsOf = (steps: readonly Tried[]) => ({
  fine: Math.max(0, ...steps.filter(({ isFine }) => isFine).map(({ sockets }) => sockets)),
  tooMany: Math.min(SOCKETS_MAX + 1, ...steps.filter(({ isFine }) => !isFine).map(({ sockets }) => sockets)),
})

/** The next number to try: 1.5 times what succeeded, or half of what was too much. Null when the search is over. */
export function nextTry(steps: readonly Tried[]): number | null {
  const { fine, tooMany } = boundsOf(steps)
  const count = fine === 0 ? Math.floor(tooMany / 2) : Math.ceil(fine * GROWTH)
  return count < SOCKETS_MIN || count >= tooMany ? null : count
}

/** The range of sockets that contains the limit; null if it was not searched for. */
export function limitOf(steps: readonly Tried[]): string | null {
  const { fine, tooMany } = boundsOf(steps)
  if (steps.length === 0) return null
  if (fine === 0) return `below ${figure(tooMany)}`
  return tooMany > SOCKETS_MAX ? `above ${figure(fine)}` : `${figure(fine)} to ${figure(tooMany)}`
}
