/** Runs the checks against one deployment in a process of its own, by `node:test`, and collects a verdict for each. */
import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { junit, spec } from 'node:test/reporters'
import { type Check, DOES_NOT_APPLY } from './check.ts'
import type { Exchange } from './notes.ts'
import { allChecks } from './sections.ts'

export interface Verdict extends Pick<Check, 'id' | 'section' | 'quote' | 'claim' | 'waits' | 'sets'> {
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'inapplicable'
  /** Why it did not pass; empty when it did. */
  readonly reason: string
  readonly exchanges: readonly Exchange[]
}

export interface Outputs {
  /** Receives the progress. */
  readonly progress?: Writable
  /** The file for the JUnit report. */
  readonly junit?: string | undefined
  /** The file for what was sent and answered. */
  readonly exchanges?: string | undefined
}

export interface Outcome {
  /** In the order of the specification. */
  readonly verdicts: readonly Verdict[]
  /** Failures outside the checks: the deployment did not start, settings could not be restored. */
  readonly failures: readonly string[]
}

type Unnoted = Omit<Verdict, 'exchanges'>

/** A line that the suite writes for each check. */
export interface Noted {
  readonly check: string
  readonly exchanges: readonly Exchange[]
}

const SUITE = join(import.meta.dirname, './suite.ts')

/** `argv`: the options of `options.ts` that name one deployment and the checks. */
export async function runChecks(argv: readonly string[], outputs: Outputs = {}): Promise<Outcome> {
  const found = new Map<string, Unnoted>()
  const failures: string[] = []
  const folder = mkdtempSync(join(tmpdir(), 'touchline-exchanges-'))
  const written = outputs.exchanges ?? join(folder, 'exchanges.jsonl')
  rmSync(written, { force: true })
  const events = run({ files: [SUITE], argv: [...argv, '--exchanges', written], concurrency: 1 })
  events.on('test:pass', ({ name, skip }) => {
    const reason = typeof skip === 'string' ? skip : ''
    const isSkipped = skip !== undefined && skip !== false
    if (reason.startsWith(DOES_NOT_APPLY)) note(found, name, 'inapplicable', reason.slice(DOES_NOT_APPLY.length))
    else note(found, name, isSkipped ? 'skipped' : 'passed', reason)
  })
  events.on('test:fail', ({ name, details: { error } }) => {
    const cause = error.cause instanceof Error ? error.cause.message : String(error.cause)
    // A suite fails with its tests, which are already counted.
    const byItsTests = 'failureType' in error && error.failureType === 'subtestsFailed'
    if (!note(found, name, 'failed', cause) && !byItsTests) failures.push(`${name}: ${cause}`)
  })
  const done: Promise<unknown>[] = []
  if (outputs.progress !== undefined) done.push(pipeline(events.compose(new spec()), outputs.progress, { end: false }))
  if (outputs.junit !== undefined) done.push(pipeline(events.compose(junit), createWriteStream(outputs.junit)))
  if (done.length === 0) events.resume()
  await Promise.all([...done, new Promise((resolve) => events.once('end', resolve))])
  const noted = exchangesIn(written)
  rmSync(folder, { recursive: true })
  const verdicts = allChecks.flatMap(({ id }) => found.get(id) ?? [])
  return { verdicts: verdicts.map((one) => ({ ...one, exchanges: noted.get(one.id) ?? [] })), failures }
}

/** What the suite has written in this file, by check. */
function exchangesIn(file: string): ReadonlyMap<string, readonly Exchange[]> {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const noted = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Noted)
  return new Map(noted.map(({ check, exchanges }) => [check, exchanges]))
}

/** Whether this is a check; suites and hooks are not. */
function note(found: Map<string, Unnoted>, name: string, outcome: Verdict['outcome'], reason: string): boolean {
  const check = allChecks.find(({ id, claim }) => name === `${id} ${claim}`)
  if (check !== undefined) found.set(check.id, { ...check, outcome, reason })
  return check !== undefined
}
