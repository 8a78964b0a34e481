/**
 * The test file: opens the deployment that the options name, and passes every chosen check to `node:test`. Checks with
 * equal settings run together, those that must be alone run one by one afterwards, and those that take long run beside
 * the first.
 */
import { after, before, suite, test } from 'node:test'
import { type Check, Skip } from './check.ts'
import { CheckContext, type Target } from './context.ts'
import { isMode, startDeployment } from './deployment.ts'
import { addresses, options } from './options.ts'
import { chosenChecks } from './sections.ts'
import { startTrust, trustOf } from './trust.ts'

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
    for (const group of Map.groupBy(short, settingsOf).values()) addGroup(group, AT_ONCE)
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

function settingsOf(check: Check): string {
  return JSON.stringify(check.settings ?? {})
}

/** Checks with equal settings, which are in force while they run. */
function addGroup(group: readonly Check[], concurrency: number): void {
  const settings = group[0]?.settings ?? {}
  if (Object.keys(settings).length === 0) return void suite('defaults', { concurrency }, () => group.forEach(add))
  void suite(JSON.stringify(settings), { concurrency }, () => {
    let previous: Readonly<Record<string, number | boolean | string>> = {}
    before(() =>
      unlessSkipped(async () => {
        previous = await shared.settings(Object.keys(settings))
        await shared.set(settings)
      }),
    )
    after(() => unlessSkipped(() => shared.set(previous)))
    group.forEach(add)
  })
}

/** Without an admin the settings stay as they are, and the checks that need them skip for the same reason. */
async function unlessSkipped(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Skip)) throw error
  }
}

function add(check: Check): void {
  const { id, sentence, settings, takes = 0 } = check
  const skip = takes > SLOW_SECS && !options.slow ? `takes ${takes} seconds (--slow)` : false
  void test(`${id} ${sentence}`, { skip, timeout: DEADLINE_MS + takes * 1_000 }, async (t) => {
    const context = shared.forNextCheck()
    try {
      if (settings !== undefined) await context.admin() // throws without one, because the settings are not in force then
      await check.run(context)
    } catch (error) {
      if (!(error instanceof Skip)) throw error
      t.skip(error.message)
    } finally {
      await context.clear()
    }
  })
}
