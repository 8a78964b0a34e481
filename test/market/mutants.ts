/** `npm run ops -- market-mutants`: breaks a copy of the market in every listed way; the small season must notice. */
import { runMutants } from '../support/run-mutants.ts'
import { MUTATIONS } from './mutations.ts'

await runMutants({
  copied: [
    'package.json',
    'actors',
    'src',
    'rooms',
    'ops/tools',
    'ops/replays',
    'ops/rehearse/rig',
    'test/market',
    'test/sim',
    'test/support',
  ],
  packages: true,
  command: ['test/market/run.ts'],
  mutations: MUTATIONS,
  /** The first complaint: who earns what. */
  found: (stderr) => ({ by: stderr.trim().split('\n')[0] ?? 'crashes', where: '' }),
})
