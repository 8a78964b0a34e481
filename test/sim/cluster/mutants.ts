/** `npm run ops -- sim-cluster-mutants`: breaks a copy of the cluster in every listed way; its simulator must fail. */
import { runMutants } from '../../support/run-mutants.ts'
import { CLUSTER_MUTATIONS } from './mutations.ts'

const SEEDS = 1
/** Many processes make a herd, and die in long rows. */
const SIZE = ['--processes', '40', '--matches', '200']

await runMutants({
  copied: ['package.json', 'actors', 'db', 'ops', 'rooms', 'src', 'test/contract', 'test/sim', 'test/support'],
  packages: true,
  command: ['test/sim/cluster/run.ts', '--seed', '1', '--seeds', String(SEEDS), ...SIZE, '--quiet'],
  mutations: CLUSTER_MUTATIONS,
  found: (stderr) => {
    const failure = /^(seed \d+, [\d.]+ s): (\w+): /m.exec(stderr)
    if (failure === null) return { by: 'crashes', where: stderr.trim().split('\n')[0] ?? '' }
    return { by: failure[2] ?? '', where: failure[1] ?? '' }
  },
})
