/** Programs of other languages, which a machine may lack. */
import { spawnSync } from 'node:child_process'

/** True if the program starts, and always in CI, where a missing one fails the tests. */
export const hasTool = (name: string): boolean =>
  process.env['CI'] === 'true' || spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined
