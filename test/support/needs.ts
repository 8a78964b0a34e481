/** A test file names its needs, so that a list of files shows what runs where. */
import { expect } from 'vitest'

/**
 * `pg` and `redis`: it also runs on that server, if one is configured. `e2e`: it drives the composed program.
 */
export type Need = 'pg' | 'redis' | 'e2e'

/** Every rig calls this first: it throws in a test file whose name lacks the rig's need. */
export function requireNamed(need: Need): void {
  const { testPath = '' } = expect.getState()
  if (testPath.endsWith(`.${need}.test.ts`)) return
  throw new Error(`${testPath} uses a rig that needs ${need}: name the file *.${need}.test.ts`)
}
