/** Runs the checks against one deployment in a process of its own, by `node:test`, and collects a verdict for each. */
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { junit, spec } from 'node:test/reporters'
import { DOES_NOT_APPLY } from './check.ts'
import { allChecks } from './sections.ts'

export interface Verdict {
  readonly id: string
  readonly section: string
  readonly sentence: string
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'inapplicable'
  /** Why it did not pass; empty when it did. */
  readonly reason: string
}

export interface Outputs {
  /** Receives the progress. */
  readonly progress?: Writable
  /** The file for the JUnit report. */
  readonly junit?: string | undefined
}

export interface Outcome {
  /** In the order of the specification. */
  readonly verdicts: readonly Verdict[]
  /** Failures outside the checks: the deployment did not start, settings could not be restored. */
  readonly failures: readonly string[]
}

const SUITE = join(import.meta.dirname, './suite.ts')

/** `argv`: the options of `options.ts` that name one deployment and the checks. */
export async function runChecks(argv: readonly string[], outputs: Outputs = {}): Promise<Outcome> {
  const found = new Map<string, Verdict>()
  const failures: string[] = []
  const events = run({ files: [SUITE], argv: [...argv], concurrency: 1 })
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
  return { verdicts: allChecks.flatMap(({ id }) => found.get(id) ?? []), failures }
}

/** Whether this is a check; suites and hooks are not. */
function note(found: Map<string, Verdict>, name: string, outcome: Verdict['outcome'], reason: string): boolean {
  const check = allChecks.find(({ id, sentence }) => name === `${id} ${sentence}`)
  if (check !== undefined) found.set(check.id, { ...check, outcome, reason })
  return check !== undefined
}
