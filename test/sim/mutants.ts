/** `npm run ops -- sim-mutants`: breaks a copy of the game in every listed way; the simulator must notice. */
import { runMutants } from '../support/run-mutants.ts'
import { MUTATIONS } from './mutations.ts'

const SEEDS = 150

await runMutants({
  // The folders that the simulator needs: its tapes are written and read by the real code.
  copied: ['package.json', 'actors', 'db', 'rooms/match', 'src/provider', 'src/verify', 'test/sim', 'test/support'],
  packages: true,
  command: ['test/sim/run.ts', '--seed', '1', '--seeds', String(SEEDS), '--quiet'],
  mutations: MUTATIONS,
  found: (stderr) => {
    const invariant = /^(seed \d+, step \d+): .*\n {2}(\S+): /m.exec(stderr)
    if (invariant === null) return { by: 'crashes', where: stderr.trim().split('\n')[0] ?? '' }
    return { by: invariant[2] ?? '', where: invariant[1] ?? '' }
  },
})
