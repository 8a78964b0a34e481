/**
 * Tells matches twice, once by a feed that errs, and says where the two differ:
 *
 *   npm run ops -- feed-troubles [--matches 5000] [--seed 1] [--kinds 'rows twice,no clock'] [--threads 2]
 *
 * Each match suffers from kinds that its seed draws, or from those of `--kinds`. Of what fails it prints the fewest
 * kinds that still fail, as a command. Ends with 1 then.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { DISTURBANCES, type DisturbanceKind } from '../../ops/tools/provider-mock/disturbances.ts'
import { differencesOf, kindsOf, shrunk } from './metamorphic.ts'

const plan = z.object({
  /** The seeds from one to before another, in steps: the share of one thread. */
  from: z.int(),
  until: z.int(),
  step: z.int(),
  kinds: z.array(z.enum(DISTURBANCES)).nullable(),
})
const told = z.discriminatedUnion('what', [
  z.object({ what: z.literal('played') }),
  z.object({ what: z.literal('failed'), seed: z.int(), kinds: z.array(z.string()), differences: z.array(z.string()) }),
])
type Told = z.output<typeof told>

/** Differences that are printed of one match. */
const SHOWN = 5
const PROGRESS_STEPS = 20

async function playShare(): Promise<void> {
  const { from, until, step, kinds: fixed } = plan.parse(workerData)
  const port = present(parentPort, 'port')
  for (let seed = from; seed < until; seed += step) {
    const kinds = fixed ?? kindsOf(seed)
    if ((await differencesOf({ seed, kinds })).length > 0) {
      const needed = await shrunk({ seed, kinds })
      port.postMessage({
        what: 'failed',
        seed,
        kinds: [...needed],
        differences: [...(await differencesOf({ seed, kinds: needed }))],
      } satisfies Told)
    }
    port.postMessage({ what: 'played' } satisfies Told)
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      matches: { type: 'string', default: '5000' },
      seed: { type: 'string', default: '1' },
      kinds: { type: 'string' },
      threads: { type: 'string', default: String(availableParallelism()) },
    },
  })
  const [matches, first, threads] = [values.matches, values.seed, values.threads].map(Number)
  const asked = values.kinds?.split(',').map((kind) => kind.trim()) ?? null
  const kinds = asked === null ? null : asked.map(kindNamed)
  if (!isCount(matches) || !isCount(first) || !isCount(threads) || kinds?.includes(null) === true) {
    process.stderr.write(
      `usage: npm run ops -- feed-troubles [--matches 5000] [--seed 1] [--kinds a,b] [--threads 2]\n`,
    )
    process.stderr.write(`kinds:\n${DISTURBANCES.map((kind) => `  ${kind}\n`).join('')}`)
    process.exitCode = 2
    return
  }
  let [played, failed] = [0, 0]
  const since = performance.now()
  const hear = (message: unknown): void => {
    const news = told.parse(message)
    if (news.what === 'failed') {
      failed += 1
      const { seed, kinds: needed, differences } = news
      const command = `npm run ops -- feed-troubles --matches 1 --seed ${seed} --kinds '${needed.join(',')}'`
      const more = differences.length > SHOWN ? [`… and ${differences.length - SHOWN} more`] : []
      process.stderr.write([command, ...differences.slice(0, SHOWN), ...more].join('\n  ') + '\n')
      return
    }
    played += 1
    const secs = ((performance.now() - since) / 1_000).toFixed(0)
    if (played % Math.ceil(matches / PROGRESS_STEPS) === 0) {
      console.log(`${played} of ${matches} matches, ${failed} failed, ${secs} s`)
    }
  }
  const shares = Array.from({ length: Math.min(threads, matches) }, (_, n) => n)
  await Promise.all(
    shares.map((n) => inThread({ from: first + n, until: first + matches, step: shares.length, kinds }, hear)),
  )
  console.log(failed === 0 ? `${played} matches: nothing differs` : `${failed} of ${played} matches differ`)
  process.exitCode = failed === 0 ? 0 : 1
}

const kindNamed = (name: string): DisturbanceKind | null => DISTURBANCES.find((kind) => kind === name) ?? null
const isCount = (value: number | undefined): value is number => Number.isInteger(value) && Number(value) > 0

/** Resolves when the thread has played its share; rejects when it fails. */
function inThread(share: unknown, hear: (message: unknown) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: share })
    worker.on('message', hear)
    worker.on('error', reject)
    worker.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a thread ended with ${code}`))))
  })
}

if (isMainThread) await main()
else await playShare()
