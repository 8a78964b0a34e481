/** Runs the checks against one deployment: those that agree about settings together, those that need to be alone by themselves. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Check, Skip } from './check.ts'
import { Stage, type Site } from './stage.ts'

export interface Verdict {
  readonly check: Check
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** Why it failed or was skipped; empty when it passed. */
  readonly reason: string
  readonly ms: number
}

export interface RunOptions {
  /** Run also what takes minutes. */
  readonly slow: boolean
  /** Told of each verdict as it comes. */
  readonly tell: (verdict: Verdict) => void
}

/** Checks under way at once. */
const AT_ONCE = 8
/** What takes longer than this is left out of a run that is not slow. */
const PATIENT_SECS = 90
/** A check that has not ended by then never will. */
const DEADLINE_MS = 60_000
const DEFAULTS = '{}'

/** The verdicts in the order of the checks. */
export async function runChecks(all: readonly Check[], site: Site, options: RunOptions): Promise<readonly Verdict[]> {
  const stage = new Stage(site)
  const verdicts = new Map<Check, Verdict>()
  const run = async (check: Check): Promise<void> => {
    const verdict = await judge(check, stage.another())
    verdicts.set(check, verdict)
    options.tell(verdict)
  }
  const tooSlow = (check: Check): boolean => !options.slow && (check.takes ?? 0) > PATIENT_SECS
  for (const check of all.filter(tooSlow)) {
    const verdict = { check, outcome: 'skipped', reason: `takes ${check.takes} seconds (--slow)`, ms: 0 } as const
    verdicts.set(check, verdict)
    options.tell(verdict)
  }
  const chosen = all.filter((check) => !tooSlow(check))
  const patient = Promise.all(chosen.filter(isPatient).map(run))
  const brisk = chosen.filter((check) => !isPatient(check))
  for (const [settings, group] of Map.groupBy(
    brisk.filter((check) => check.alone !== true),
    settingsOf,
  )) {
    await under(settings, group, stage, () => several(group, run))
  }
  await patient
  for (const check of brisk.filter((one) => one.alone === true)) {
    await under(settingsOf(check), [check], stage, () => run(check))
  }
  await stage.clear()
  return all.flatMap((check) => verdicts.get(check) ?? [])
}

/** What takes long goes on beside everything else, if it may. */
const isPatient = (check: Check): boolean => check.takes !== undefined && check.alone !== true
const settingsOf = (check: Check): string => JSON.stringify(check.settings ?? {})

/** Does it while these settings are in force; where they cannot be set the checks say so themselves. */
async function under(json: string, group: readonly Check[], stage: Stage, work: () => Promise<unknown>): Promise<void> {
  const settings = group[0]?.settings ?? {}
  if (json === DEFAULTS) return void (await work())
  let before: Record<string, number | boolean | string>
  try {
    before = await stage.settings(Object.keys(settings))
    await stage.set(settings)
  } catch (error) {
    if (!(error instanceof Skip)) throw error
    return void (await work()) // whatever needs the admin is skipped for the same reason
  }
  try {
    await work()
  } finally {
    await stage.set(before)
  }
}

async function several(group: readonly Check[], run: (check: Check) => Promise<void>): Promise<void> {
  const waiting = [...group]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(next)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

async function judge(check: Check, stage: Stage): Promise<Verdict> {
  const startedAt = Date.now()
  const late = new AbortController()
  const end = (outcome: Verdict['outcome'], reason = ''): Verdict => ({
    check,
    outcome,
    reason,
    ms: Date.now() - startedAt,
  })
  const deadline = pause(DEADLINE_MS + (check.takes ?? 0) * 1_000, undefined, { signal: late.signal }).then(() => {
    throw new Error('it has not come to an end')
  })
  deadline.catch(() => undefined)
  try {
    if (check.settings !== undefined) await stage.admin() // without one they are not in force
    await Promise.race([check.run(stage), deadline])
    return end('passed')
  } catch (error) {
    if (error instanceof Skip) return end('skipped', error.message)
    return end('failed', error instanceof Error ? error.message : String(error))
  } finally {
    late.abort()
    await stage.clear()
  }
}
