/**
 * Rehearses a rolling release: two processes of each role behind nginx, under load. Each in turn is asked to stop and
 * is started again. Then the signing key and BUS_KEY are replaced in the same way, in two steps.
 *
 *   npm run ops -- rolling [--rounds 1] [--users 20] [--sockets 100] [--speed 20] [--seed N]
 *
 * A request fails if it gets no answer or a status of 500 or above, including `busy` with its Retry-After. No request
 * may fail, no user may be signed out, and tokens of either key must count in every process. Every process must end
 * within ten seconds, every socket must reconnect and miss no move, every trade must have happened once, and the books
 * must balance. DATABASE_URL and REDIS_URL (or TEST_…) name the servers; a database is made there. NGINX_BINARY names
 * nginx if it is not on the path. The exit code is 1 when a promise is broken.
 */
import { z } from 'zod'
import { demand } from '../rig/account.ts'
import { namedPlace } from '../rig/data-place.ts'
import { SimulatedClient } from '../rig/simulated-client.ts'
import { numbers } from '../rig/options.ts'
import { rehearsing } from '../rig/program.ts'
import { Rehearsal, say } from '../rig/rehearsal.ts'
import { Cluster, NAMES } from './cluster.ts'
import { keyRotation, type KeyRotation } from './key-rotation.ts'
import { ClusterLoad } from './load.ts'
import { demandNginx } from './proxy.ts'

const { rounds, users, sockets, speed, seed } = numbers({
  rounds: [1, 1],
  users: [20, 1],
  sockets: [100, 0],
  speed: [20, 1],
  seed: [Date.now() % 1_000_000, 0],
})
demandNginx()

const place = await namedPlace()
const rehearsal = new Rehearsal('rolling')
const load = new ClusterLoad({ name: 'Rolling', users, sockets, seed })

const Signed = z.object({ loggedIn: z.boolean() })

/** Replaces both keys while everybody trades. Tokens and messages of both are in use at processes of both steps. */
async function rotateKeys(cluster: Cluster, { announced, replaced }: KeyRotation): Promise<void> {
  for (const [step, settings] of Object.entries({ announced, replaced })) {
    cluster.configure(settings)
    for (const name of NAMES) {
      say(await load.restart(cluster, name))
      // Another session of the first trader. The proxy takes its tokens to processes of both steps.
      const newcomer = new SimulatedClient('Rolling 1')
      await newcomer.signIn(cluster.url)
      for (const client of [newcomer, ...load.traders.map((trader) => trader.client)]) {
        const { loggedIn } = await client.read(cluster.url, '/api/me', Signed)
        demand(loggedIn, () => `a user was signed out when ${name} was restarted with the key ${step}`)
      }
    }
    say(`the next keys are ${step} in every process, and nobody was signed out`)
  }
}

async function run(cluster: Cluster, rotation: KeyRotation): Promise<void> {
  await load.start(cluster.url)
  for (let round = 1; round <= rounds; round++) for (const name of NAMES) say(await load.restart(cluster, name))
  await rotateKeys(cluster, rotation)
  await load.stop()
  say(await load.check(cluster.url))
  demand(load.failed === 0, () => {
    return `${load.failed} of ${load.asked} requests failed: ${load.failures.slice(0, 10).join('\n')}`
  })
  demand(cluster.errors.length === 0, () => `errors were logged: ${cluster.errors.slice(0, 5).join('')}`)
}

say(`${users} users, ${sockets} sockets, seed ${seed}, ${place.description}`)
const rotation = await keyRotation()
const facts = `seed ${seed}, ${place.description}`
await rehearsal.play(
  async () => {
    rehearsal.later(() => load.end())
    const settings = { ...place.env, ...rehearsing('Rolling', speed), ...rotation.former }
    const cluster = await Cluster.start(settings, rehearsal.folder)
    rehearsal.later(() => cluster.end())
    await run(cluster, rotation)
    say(`\n${load.asked} requests, none failed. No promise was broken.`)
  },
  { tally: load.tally, facts, remove: () => place.remove() },
)
