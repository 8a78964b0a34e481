/**
 * Rehearses two releases with migrations on a loaded cluster: two processes of each role behind nginx.
 *
 *   npm run ops -- upgrade [--from <git ref>] [--users 20] [--sockets 100] [--speed 20] [--seed N]
 *
 * The version before is checked out into a temporary git worktree: `--from`, by default the last version tag, or HEAD
 * without one. It is upgraded to copies of this tree, with what is not committed and with migrations planted:
 *
 *   1. A tolerated one adds columns to tables under load. It runs as a step of its own, then each process is
 *      restarted with the new version. No request may fail beyond the honest refusals.
 *   2. A breaking one drops a column. Once it has run, each process must notice, hand its matches over and end with
 *      exit code 75 within 13 seconds; the next version is started in its place. Meanwhile requests may get no answer
 *      or 503, and nothing else; the longest time in which no command was carried out is reported.
 *
 * In both, sockets must reconnect and miss no move, every key must resolve once, every position must follow from the
 * events of its owner, and the books and the audit log must hold. DATABASE_URL and REDIS_URL (or TEST_…) name the
 * servers; a database is made there. NGINX_BINARY names nginx if it is not on the path. The exit code is 1 when a
 * promise is broken.
 */
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { EXIT } from '../../../src/start-failure.ts'
import { demand } from '../rig/account.ts'
import { waitForTrading } from '../rig/consistency.ts'
import { namedPlace } from '../rig/data-place.ts'
import { numbers } from '../rig/options.ts'
import { rehearsing } from '../rig/program.ts'
import { Rehearsal, say } from '../rig/rehearsal.ts'
import { Cluster, NAMES } from '../rolling/cluster.ts'
import { ClusterLoad, seconds } from '../rolling/load.ts'
import { Pulse } from './pulse.ts'
import {
  checkOut,
  commitNamed,
  copyThisTree,
  demandSameBeginning,
  type PlantedMigration,
  previousVersion,
  removeCheckout,
} from './trees.ts'
import { demandNginx } from '../rolling/proxy.ts'

const { from, users, sockets, speed, seed } = numbers(
  { users: [20, 1], sockets: [100, 0], speed: [20, 1], seed: [Date.now() % 1_000_000, 0] },
  { from: { type: 'string', default: previousVersion() } },
)
commitNamed(from)
demandNginx()

const ADDS: PlantedMigration = {
  name: '9001-planted-adds',
  sql: `
    create table planted (id bigint primary key);
    alter table positions add column planted integer not null default 7;
    alter table wallets add column planted text;
    alter table command_results add column planted text;`,
  isBreaking: false,
}
const BREAKS: PlantedMigration = {
  name: '9002-planted-breaks',
  sql: `
    drop table planted;
    alter table positions drop column planted;
    alter table wallets rename column planted to planted_once;`,
  isBreaking: true,
}
/** One look at the schema, and stopping, with a reserve for a busy machine. */
const END_MS = 13_000
const CALM_MS = 3_000
/** A client that has found no process several times waits for up to fifteen seconds, and may then be told to wait. */
const BACK_MS = 30_000
/** What a client may see while no process is there. */
const IS_AWAY = / (got no answer|503 )/

const place = await namedPlace()
const rehearsal = new Rehearsal('upgrade')
const [before, adding, breaking] = ['before', 'adding', 'breaking'].map((name) => join(rehearsal.folder, name)) as [
  string,
  string,
  string,
]
const load = new ClusterLoad({ name: 'Upgrade', users, sockets, seed })
const ms = (time: number): string => `${Math.round(time)} ms`

/** Runs a tool of a tree, as a Job of that version would. */
async function tool(tree: string, ...args: readonly string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], ...place.env }
  const main = join(tree, 'ops/main.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], { cwd: tmpdir(), env })
  return stdout.trim()
}

async function upgradeRolling(cluster: Cluster, pulse: Pulse): Promise<void> {
  const begin = performance.now()
  say(`\nTolerated: ${await tool(adding, 'migrate')} in ${seconds(performance.now() - begin)}, under load`)
  await pause(CALM_MS)
  cluster.use(adding)
  for (const name of NAMES) say(await load.restart(cluster, name))
  say(`longest time without a command: ${ms(pulse.takeLongest())}`)
  demand(load.failed === 0, () => {
    return `${load.failed} of ${load.asked} requests failed: ${load.failures.slice(0, 10).join('\n')}`
  })
  say(`${load.asked} requests, none failed`)
}

async function upgradeBreaking(cluster: Cluster, pulse: Pulse): Promise<void> {
  const earlier = { asked: load.asked, failed: load.failed }
  cluster.use(breaking)
  const codes = new Map(NAMES.map((name) => [name, cluster.gone(name)]))
  const begin = performance.now()
  say(`\nBreaking: ${await tool(breaking, 'migrate')} in ${seconds(performance.now() - begin)}, under load`)
  const migrated = performance.now()
  await Promise.all(
    [...codes].map(async ([name, gone]) => {
      const late = pause(END_MS, 'late' as const)
      const code = await Promise.race([gone, late])
      const took = performance.now() - migrated
      demand(code === EXIT.schemaNewer, () => `${name} ended with ${code} after ${seconds(took)}`)
      await cluster.start(name)
      const up = performance.now() - migrated
      say(`${name.padEnd(8)} ended with ${code} after ${seconds(took)}, its successor listens after ${seconds(up)}`)
    }),
  )
  await waitForTrading(cluster.url, load.admin)
  await load.socketsAreBack(BACK_MS)
  await pause(CALM_MS)
  say(`longest time without a command: ${ms(pulse.takeLongest())}`)
  say(`${load.asked - earlier.asked} requests, ${load.failed - earlier.failed} of them without an answer or 503`)
  const wrong = load.failures.filter((failure) => !IS_AWAY.test(failure))
  demand(wrong.length === 0, () => `requests failed: ${wrong.slice(0, 10).join('\n')}`)
}

async function run(cluster: Cluster): Promise<void> {
  await load.start(cluster.url)
  const pulse = new Pulse(cluster.url, load.admin)
  await pulse.start()
  await pause(CALM_MS)
  pulse.takeLongest()
  await upgradeRolling(cluster, pulse)
  await upgradeBreaking(cluster, pulse)
  await load.stop()
  await pulse.stop()
  say(await load.check(cluster.url))
  say(await tool(breaking, 'audit-verify'))
  demand(cluster.errors.length === 0, () => `errors were logged: ${cluster.errors.slice(0, 5).join('\n')}`)
}

const facts = `seed ${seed}, ${place.description}`
await rehearsal.play(
  async () => {
    rehearsal.later(() => removeCheckout(before))
    const version = checkOut(from, before)
    demandSameBeginning(before, from)
    copyThisTree(adding, [ADDS])
    copyThisTree(breaking, [ADDS, BREAKS])
    say(`${users} users, ${sockets} sockets, ${facts}; from ${version} to this tree`)
    rehearsal.later(() => load.end())
    const settings = { ...place.env, ...rehearsing('Upgrade', speed) }
    const cluster = await Cluster.start(settings, rehearsal.folder, before)
    rehearsal.later(() => cluster.end())
    await run(cluster)
    say(`\n${load.asked} requests, nothing lost and nothing done twice. No promise was broken.`)
  },
  { tally: load.tally, facts, remove: () => place.remove() },
)
