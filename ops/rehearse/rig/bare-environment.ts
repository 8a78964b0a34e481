/** The least that a program of this project needs of its environment. Those who start it add their settings. */
import { join } from 'node:path'

/** The tree of files that this rehearsal belongs to. */
export const THIS_TREE = join(import.meta.dirname, '../../..')

/** With a cache: without it each start compiles the same files again, which is half of its processor time. */
export const bareEnvironment = (tree = THIS_TREE) => ({
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: join(tree, 'node_modules/.cache/touchline/compiled'),
})
