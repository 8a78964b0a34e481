/** `npm run ops -- feed-mutants`: removes each rule about a feed that errs in a copy; some match must then differ. */
import { runMutants } from '../support/run-mutants.ts'
import { MUTATIONS } from './mutations.ts'

await runMutants({
  copied: ['package.json', 'actors', 'src', 'rooms', 'db', 'ops', 'test/feed', 'test/support'],
  packages: true,
  command: ['test/feed/run.ts', '--matches', '400', '--threads', '2'],
  mutations: MUTATIONS,
  /** The first command that shows it, and what differs. */
  found: (stderr) => {
    const [command = '', difference = ''] = stderr.trim().split('\n')
    return { by: /--kinds '([^']*)'/.exec(command)?.[1] ?? 'crashes', where: difference.trim() }
  },
})
