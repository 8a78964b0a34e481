/** Looks for cheats among recent openings, beside the trades and never in their path. */
import { findingsIn } from '../../../actors/integrity/findings.ts'
import type { Openings } from './openings.ts'

/**
 * One look, by one process of a cluster at a time. What it finds is recorded in the audit log as `integrity.alert`,
 * once a day for each user and kind. Returns how many alerts are new.
 */ // C6
export async function lookForCheats(openings: Openings): Promise<number> {
  if (!(await openings.claim())) return 0
  const recent = await openings.recent()
  const connections = await openings.connections([...new Set(recent.map(({ userId }) => userId))])
  return openings.report(findingsIn(recent, connections))
}
