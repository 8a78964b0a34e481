/** The form of a check, and helpers that assert on answers. */
import assert from 'node:assert/strict'
import type { Reply } from './visitor.ts'
import type { CheckContext } from './context.ts'
import type { Wait, Waits } from './waits.ts'

export interface Terms {
  /** Waits that are shorter while the check runs. They are set before it and restored afterwards. */
  readonly waits?: Waits
  /** Waits that the check itself sets, because setting is what it is about. */
  readonly sets?: readonly Wait[]
  /** It changes what all users see, so nothing else runs meanwhile. */
  readonly alone?: boolean
  /** Seconds that the check has to wait. It runs beside the others, under any settings; over 90 only with `--slow`. */
  readonly takes?: number
}

export interface Check extends Terms {
  /** Section of the specification (10: beyond it), a dot, and a number of its own. */
  readonly id: string
  readonly section: string
  /** The words of the specification, with … between two passages; empty beyond the specification. */
  readonly quote: string
  /** What is checked. */
  readonly claim: string
  readonly run: (context: CheckContext) => Promise<void>
}

/** Registers one check: the words of the specification, what is checked, and the proof, which throws if it fails. */
export interface WriteDown {
  (id: string, quote: string, claim: string, run: Check['run']): void
  (id: string, quote: string, claim: string, terms: Terms, run: Check['run']): void
}

/** Registers one check of what the specification leaves open or does not have. */
export interface WriteDownBeyond {
  (id: string, claim: string, run: Check['run']): void
  (id: string, claim: string, terms: Terms, run: Check['run']): void
}

type Rest = [Check['run']] | [Terms, Check['run']]

/** Registers checks in this list. */
export function into(list: Check[]): WriteDown {
  return (id: string, quote: string, claim: string, ...rest: Rest) => {
    const [terms, run] = rest.length === 1 ? [{}, rest[0]] : rest
    list.push({ id, section: id.slice(0, id.lastIndexOf('.')), quote, claim, run, ...terms })
  }
}

/** The same for checks beyond the specification. */
export function beyondInto(list: Check[]): WriteDownBeyond {
  const write = into(list)
  return (id: string, claim: string, ...rest: Rest) =>
    rest.length === 1 ? write(id, '', claim, rest[0]) : write(id, '', claim, ...rest)
}

/** The check cannot be made on this deployment. It is reported as skipped, with the reason. */
export class Skip extends Error {
  override name = 'Skip'
}

/** What the reason begins with when the sentence says nothing about this kind of deployment. */
export const DOES_NOT_APPLY = 'does not apply: '

/** The answer has this status and, for the named fields, this body. */
export function says(reply: Reply, status: number, part?: object): void {
  const received = `${reply.asked} was answered ${reply.status} ${reply.text.slice(0, 500)}`
  assert.equal(reply.status, status, received)
  if (part !== undefined)
    assert.partialDeepStrictEqual(reply.body, part, `${received}, which lacks ${JSON.stringify(part)}`)
}

/** The answer is an error of this status in the standard form: `error`, `code`, `requestId` */
export function refuses(reply: Reply, status: number, facts: object = {}): void {
  says(reply, status, facts)
  const { error, code, requestId, stack } = reply.body as Record<string, unknown>
  assert(typeof error === 'string' && error !== '', `no error text in ${reply.text}`)
  assert(typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code), `no stable code in ${reply.text}`)
  assert(typeof requestId === 'string' && requestId !== '', `no request id in ${reply.text}`)
  assert.equal(stack, undefined, 'an answer carries a stack trace')
}

/** The header is a whole number from 1 to `most`. */
export function retryAfter(reply: Reply, most: number): number {
  const seconds = Number(reply.headers.get('retry-after') ?? 'none')
  assert(Number.isInteger(seconds) && seconds >= 1 && seconds <= most, `Retry-After of ${reply.asked} is ${seconds}`)
  return seconds
}

/** The two are equal to within six decimals. */
export function near(actual: number, expected: number, what: string, within = 0.000_001): void {
  assert(Math.abs(actual - expected) <= within + 1e-9, `${what} is ${actual}, not ${expected}`)
}

/** A price as the API answers it: with at most 6 decimals. */
export const millionths = (value: number): number => Math.round(value * 1e6) / 1e6
