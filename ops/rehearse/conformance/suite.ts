/**
 * The test file: opens the deployment that the options name, and passes every chosen check to `node:test`. Checks with
 * equal waits run together, those that must be alone run one by one afterwards, and those that take long run beside
 * the first.
 */
import { appendFileSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import { type Check, Skip } from './check.ts'
import { CheckContext, type Target } from './context.ts'
import { isMode, startDeployment } from './deployment.ts'
import { type Exchange, notingIn } from './notes.ts'
import { addresses, options } from './options.ts'
import { chosenChecks } from './sections.ts'
import type { Noted } from './run.ts'
import { startTrust, trustOf } from './trust.ts'
import type { Waits } from './waits.ts'

/** Checks that run at the same time. */
const AT_ONCE = 8
/** Checks that take longer need `--slow`. */
const SLOW_SECS = 90
/** A check that has not ended by then has failed. */
const DEADLINE_MS = 60_000

const { target, close } = await open()
const shared = new CheckContext(target)
after(async () => {
  await shared.clear()
  await close()
})

const checks = chosenChecks(options.only)
const alone = checks.filter((check) => check.alone === true)
const long = checks.filter((check) => check.alone !== true && check.takes !== undefined)
const short = checks.filter((check) => check.alone !== true && check.takes === undefined)

// An empty suite would be reported as a test.
const suiteOf = (name: string, some: readonly Check[], concurrency: number, addAll: () => void): void => {
  if (some.length > 0) void suite(name, { concurrency }, addAll)
}
suiteOf('together', [...long, ...short], 2, () => {
  suiteOf('long', long, long.length, () => long.forEach(add))
  suiteOf('short', short, 1, () => {
    for (const group of Map.groupBy(short, waitsOf).values()) addGroup(group, AT_ONCE)
  })
})
suiteOf('alone', alone, 1, () => {
  for (const check of alone) addGroup([check], 1)
})

/** The deployment, and how to close it. */
async function open(): Promise<{ readonly target: Target; readonly close: () => Promise<void> }> {
  if (isMode(options.mode)) {
    const trust = await startTrust()
    try {
      const deployment = await startDeployment(options.mode, trust.environment)
      const closeBoth = async (): Promise<void> => {
        await deployment.stop()
        await trust.stop()
      }
      return { target: { ...deployment, trust }, close: closeBoth }
    } catch (error) {
      await trust.stop()
      throw error
    }
  }
  const trust = options.trust === undefined ? null : await trustOf(options.trust, Number(options.port))
  return {
    target: {
      urls: addresses(options.url ?? ''),
      wsUrls: addresses(options.ws),
      production: options.production,
      trust,
      stores: null,
    },
    close: async () => trust?.stop(),
  }
}

function waitsOf(check: Check): string {
  return JSON.stringify(check.waits ?? {})
}

/** Checks with equal waits, which are in force while they run. */
function addGroup(group: readonly Check[], concurrency: number): void {
  const waits = group[0]?.waits ?? {}
  if (Object.keys(waits).length === 0) return void suite('defaults', { concurrency }, () => group.forEach(add))
  void suite(JSON.stringify(waits), { concurrency }, () => {
    let previous: Waits = {}
    before(() =>
      unlessSkipped(async () => {
        previous = await shared.waits()
        await shared.set(waits)
      }),
    )
    after(() => unlessSkipped(() => shared.set(previous)))
    group.forEach(add)
  })
}

/** Without an admin the waits stay as they are, and the checks that need them skip for the same reason. */
async function unlessSkipped(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Skip)) throw error
  }
}

function add(check: Check): void {
  const { id, claim, waits, takes = 0 } = check
  const skip = takes > SLOW_SECS && !options.slow ? `takes ${takes} seconds (--slow)` : false
  void test(`${id} ${claim}`, { skip, timeout: DEADLINE_MS + takes * 1_000 }, async (t) => {
    const context = shared.forNextCheck()
    const exchanges: Exchange[] = []
    try {
      if (waits !== undefined) await context.admin() // throws without one, because the waits are not in force then
      await notingIn(exchanges, () => check.run(context))
    } catch (error) {
      if (!(error instanceof Skip)) throw error
      t.skip(error.message)
    } finally {
      await context.clear()
      if (options.exchanges !== undefined)
        appendFileSync(options.exchanges, `${JSON.stringify({ check: id, exchanges } satisfies Noted)}\n`)
    }
  })
}
