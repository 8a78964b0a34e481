/** Where the limit of a server is looked for, and what was found. */
import { figure } from '../../bench/report.ts'

/** One step on the way to the limit. */
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

/** The most that went well, 0 when nothing did, and the least that was too much. */
const boundsOf = (steps: readonly Tried[]) => ({
  fine: Math.max(0, ...steps.filter(({ isFine }) => isFine).map(({ sockets }) => sockets)),
  tooMany: Math.min(SOCKETS_MAX + 1, ...steps.filter(({ isFine }) => !isFine).map(({ sockets }) => sockets)),
})

/** How many to try next: half as many again as went well, or half of what was too much. Null when nothing is left to try. */
export function nextTry(steps: readonly Tried[]): number | null {
  const { fine, tooMany } = boundsOf(steps)
  const count = fine === 0 ? Math.floor(tooMany / 2) : Math.ceil(fine * GROWTH)
  return count < SOCKETS_MIN || count >= tooMany ? null : count
}

/** In how many sockets the limit is; null when it was not looked for. */
export function limitOf(steps: readonly Tried[]): string | null {
  const { fine, tooMany } = boundsOf(steps)
  if (steps.length === 0) return null
  if (fine === 0) return `below ${figure(tooMany)}`
  return tooMany > SOCKETS_MAX ? `above ${figure(fine)}` : `${figure(fine)} to ${figure(tooMany)}`
}
