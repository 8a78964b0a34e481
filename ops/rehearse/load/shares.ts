/** How the users of a run and their sockets are divided among its workers, and who of them sits in match rooms. */
import type { Plan } from './run.ts'
import type { Share } from './worker.ts'

/** A process may have 20,000 descriptors. */
const SOCKETS_PER_WORKER = 9_000
/** A client of the SDK takes more: it decodes the state, each by classes of its own. */
const SEATS_PER_WORKER = 1_500

/** Whether the nth user of a worker sits in a room, of this share of its users: evenly spread, and rounded up. */
export const isInRoom = (n: number, share: number): boolean => Math.ceil((n + 1) * share) > Math.ceil(n * share)

/** Users and their sockets, divided evenly. */
export function sharesOf(plan: Plan): Share[] {
  const seats = plan.sockets * (plan.rooms ?? 0)
  const workers = Math.max(1, Math.ceil((plan.sockets - seats) / SOCKETS_PER_WORKER + seats / SEATS_PER_WORKER))
  const sockets = plan.tokens.map((_, n) =>
    Math.floor((plan.sockets + plan.tokens.length - 1 - n) / plan.tokens.length),
  )
  return Array.from({ length: workers }, (_, worker) => {
    const mine = <T>(of: readonly T[]): T[] => of.filter((_one, n) => n % workers === worker)
    return {
      ...plan,
      tokens: mine(plan.tokens),
      sockets: mine(sockets),
      tradesPerSecond: plan.tradesPerSecond / workers,
    }
  })
}
