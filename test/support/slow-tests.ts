/** Fails a run with a test that computes for too long, so that the tests before a commit stay short. */
import { relative } from 'node:path'
import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** Milliseconds on the processor. */
const LIMITS_MS: Readonly<Record<string, number>> = { unit: 300 }
const LIMIT_MS = 20_000
/** A run fails at twice the limit: the first test of a worker also compiles what it uses. */
const TOLERANCE = 2

/** Files whose tests may take longer, each with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  'test/actors/fair-fill.test.ts': 'tries many sequences of orders',
  'test/actors/micros.test.ts': 'tries many quantities',
  'test/actors/move-reason.test.ts': 'explains every move of whole matches',
  'test/actors/pricing.test.ts': 'tries many statistics and orders of events',
  'test/db/signed-pub-sub.test.ts': 'signs the messages of thousands of publishers',
  'test/provider/feed-faults.test.ts': 'tries many payloads',
  'test/provider/odds.test.ts': 'makes a match of its own',
  'test/provider/snapshot.test.ts': 'parses every update of a match twice',
  'test/rooms/fan-out.test.ts': 'has ten thousand subscriptions',
}

export class SlowTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const slow = modules.flatMap((module) => {
      const file = relative('', module.moduleId)
      const limit = LIMITS_MS[module.project.name] ?? LIMIT_MS
      const over = [...module.children.allTests()].filter((test) => timeOf(test) > TOLERANCE * limit)
      return file in ALLOWED ? [] : over.map((test) => `${Math.round(timeOf(test))} ms  ${file}  ${test.fullName}`)
    })
    if (slow.length === 0) return
    console.error(`These tests compute for too long (test/support/slow-tests.ts):\n${slow.join('\n')}\n`)
    // A gate of many machines fails for what is wrong, not for what is slow.
    if (process.env['CI'] !== 'true') process.exitCode = 1
  }
}

const timeOf = (test: TestCase): number => test.meta().processorMs ?? 0
