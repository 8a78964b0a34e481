/** All checks, in the order of the specification, and those beyond it as section 10. */
import assert from 'node:assert/strict'
import { checks as beyondAccounts } from './beyond-accounts.ts'
import { checks as beyondBoardsAndAdmin } from './beyond-boards-and-admin.ts'
import { checks as beyondEvents } from './beyond-events.ts'
import { checks as beyondLeagues } from './beyond-leagues.ts'
import { checks as beyondMatches } from './beyond-matches.ts'
import { checks as beyondRequests } from './beyond-requests.ts'
import { checks as beyondTrading } from './beyond-trading.ts'
import type { Check } from './check.ts'
import { checks as section1 } from './section-1-service.ts'
import { checks as section2 } from './section-2-resources.ts'
import { checks as section3 } from './section-3-transitions.ts'
import { checks as section41 } from './section-4-1-sign-in.ts'
import { checks as section42 } from './section-4-2-market.ts'
import { checks as section43 } from './section-4-3-trading.ts'
import { checks as section44 } from './section-4-4-community.ts'
import { checks as section45 } from './section-4-5-admin.ts'
import { checks as section46 } from './section-4-6-cross-origin.ts'
import { checks as section5 } from './section-5-authentication.ts'
import { checks as section6 } from './section-6-events.ts'
import { checks as section7 } from './section-7-errors.ts'
import { checks as section8 } from './section-8-limits.ts'

export const allChecks: readonly Check[] = [
  ...section1,
  ...section2,
  ...section3,
  ...section41,
  ...section42,
  ...section43,
  ...section44,
  ...section45,
  ...section46,
  ...section5,
  ...section6,
  ...section7,
  ...section8,
  ...beyondAccounts,
  ...beyondTrading,
  ...beyondMatches,
  ...beyondRequests,
  ...beyondEvents,
  ...beyondBoardsAndAdmin,
  ...beyondLeagues,
]

assert.equal(new Set(allChecks.map(({ id }) => id)).size, allChecks.length, 'two checks have the same id')

/** The checks whose id is one of these, separated by commas, or begins with it and a dot. Empty: all checks. */
export function chosenChecks(only: string): readonly Check[] {
  const wanted = only.split(',').filter((id) => id !== '')
  if (wanted.length === 0) return allChecks
  return allChecks.filter(({ id }) => wanted.some((one) => id === one || id.startsWith(`${one}.`)))
}
