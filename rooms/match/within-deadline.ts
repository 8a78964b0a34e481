/** How long a caller waits for an outcome. */
import { COMMAND_DEADLINE_MS } from '../../actors/kernel/limits.ts'
import { type Outcome, refused } from '../../actors/kernel/outcome.ts'
import type { Trade } from '../../actors/match/messages.ts'

/** The outcome, or `unknown_outcome` after the deadline. A late answer or fault is dropped. */
export async function withinDeadline(outcome: Promise<Outcome<Trade>>): Promise<Outcome<Trade>> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Outcome<Trade>>((resolve) => {
    timer = setTimeout(() => resolve(refused({ code: 'unknown_outcome', retryAfterSecs: 1 })), COMMAND_DEADLINE_MS)
  })
  try {
    return await Promise.race([outcome, late])
  } finally {
    clearTimeout(timer)
  }
}
