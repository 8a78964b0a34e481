/**
 * How the tests run. `npm test` runs what one waits for before a commit; `npm run test:all` runs the rest as well.
 */
import { accessSync, constants, readFileSync, statfsSync } from 'node:fs'
import { configDefaults, defineConfig } from 'vitest/config'
import { LeftOut } from './test/support/left-out.ts'
import { LongFirst } from './test/support/long-first.ts'
import { SlowTests } from './test/support/slow-tests.ts'
import { Uncaught } from './test/support/uncaught.ts'

const report = process.env['TEST_REPORT']

/** They need a database or a Redis. */
const WITH_STORES = 'test/**/*.{pg,redis}.test.ts'
/** They need a composed program or the simulator. */
const WITH_PROGRAM = 'test/**/*.{e2e,sim}.test.ts'
/** They ask the whole API, play whole matches, start threads as the server does, or read everything. */
const HEAVY = [
  'test/tidy.test.ts',
  'test/http/**/*.test.ts',
  'test/src/{gameplay-bot,uploads}.test.ts',
  'test/verify/verify.test.ts',
]
/** Whole matches, the journeys of whole browsers, tests of tools, and deployments of several processes. */
const LONG = [
  'test/**/*.long.*.ts',
  'test/{chaos,clients,market,ops}/**/*.test.ts',
  'test/web/**/*.e2e.test.ts',
  'test/e2e/{cluster,library,live-provider,pgbouncer,redis-cluster,replica,start,tls,tracing,upgrade}.e2e.test.ts',
]

/** What each project runs. */
const PROJECTS = {
  unit: 'rules and the pure core',
  data: 'the database and Redis',
  server: 'the whole server',
  long: 'whole matches, browsers, tools and deployments',
}

/** Of a test or a hook, on a busy machine. They are not expectations: no test waits for them. */
const BOUND_MS: Readonly<Record<keyof typeof PROJECTS, number>> = {
  unit: 60_000,
  data: 120_000,
  server: 180_000,
  long: 300_000,
}

const project = (name: keyof typeof PROJECTS, include: readonly string[], exclude: readonly string[] = []) => ({
  extends: true as const,
  test: {
    name,
    include: [...include],
    exclude: [...configDefaults.exclude, ...exclude],
    testTimeout: BOUND_MS[name],
    hookTimeout: BOUND_MS[name],
  },
})

// Half of what a worker computes before its first test is the compiling of modules.
process.env['NODE_COMPILE_CACHE'] ??= 'node_modules/.cache/touchline/compiled'

/** Where Linux keeps files in memory. */
const IN_MEMORY = '/dev/shm'
const DATABASES_BYTES = 2 ** 31

// Each test of a whole program makes a database of a thousand files: on a disk that is a fifth of the time.
if (process.env['TMPDIR'] === undefined && freeBytes(IN_MEMORY) >= DATABASES_BYTES) process.env['TMPDIR'] = IN_MEMORY

/** Of a folder that one can write to, and start programs from. */
function freeBytes(folder: string): number {
  try {
    accessSync(folder, constants.W_OK)
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
    if (mounts.some((mount) => mount.includes(` ${folder} `) && mount.includes('noexec'))) return 0
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return 0
  }
}

export default defineConfig({
  test: {
    projects: [
      project('unit', ['test/**/*.test.ts'], [WITH_STORES, WITH_PROGRAM, ...HEAVY, ...LONG]),
      project('data', [WITH_STORES], LONG),
      project('server', [WITH_PROGRAM, ...HEAVY], [...LONG, WITH_STORES]),
      project('long', LONG),
    ],
    pool: 'forks',
    // As in `npm start`: less memory for the embedded database. Collecting garbage was a tenth of the time.
    execArgv: ['--liftoff-only', '--max-semi-space-size=32', '--min-semi-space-size=32'],
    // An embedded database takes some 500 MB of each. On two cores the third computes while others wait, as most tests
    // of the whole program do.
    maxWorkers: 3,
    // Tests at once in a file: more would wait for each other longer than the server lets a commit take.
    maxConcurrency: 3,
    // With isolation, each of 250 files loads the server again, which takes a third of the time. So a file must undo
    // what it changes.
    isolate: false,
    sequence: { sequencer: LongFirst },
    // The default of one second is a time that a busy machine exceeds.
    expect: { poll: { timeout: 30_000 } },
    setupFiles: ['test/support/processor-time.ts'],
    reporters: [
      'default',
      new LeftOut(PROJECTS),
      new SlowTests(),
      ...(report === undefined ? [] : ['json', new Uncaught(report)]),
    ],
    outputFile: report ?? '',
  },
})
