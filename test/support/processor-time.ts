/**
 * Measures what each test computes. A busy machine lengthens time on the clock several times over, and processor time
 * by half; so a long one is divided by how much slower than usual the processor is at that moment.
 */
import { afterEach, beforeEach } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** Milliseconds on the processor, of all threads of this process. */
    processorMs?: number
  }
}

/** Below it nothing depends on the exact time (`SlowTests`). */
const LONG_MS = { unit: 600, other: 20_000 }
/** What `fixedWork` takes where nothing else runs. */
const USUAL_MS = 4
const TRIES = 5

let before = process.cpuUsage()

beforeEach(() => {
  before = process.cpuUsage()
})

afterEach(({ task }) => {
  const spent = since(before)
  const long = task.file.projectName === 'unit' ? LONG_MS.unit : LONG_MS.other
  task.meta.processorMs = spent < long ? spent : spent / slowness()
})

const since = (start: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

/** How many times as long as usual the processor takes; at least 1. */
function slowness(): number {
  const times = Array.from({ length: TRIES }, () => {
    const start = process.cpuUsage()
    fixedWork()
    return since(start)
  })
  return Math.max(1, Math.min(...times) / USUAL_MS)
}

function fixedWork(): number {
  const kept = new Map<number, string>()
  for (let n = 0, x = 1; n < 60_000; n++) {
    x = (x * 69_069 + 12_345) % 2 ** 31
    kept.set(x % 1_024, String(x))
  }
  return kept.size
}
