/** The form of a check, and helpers that assert on answers. */
import assert from 'node:assert/strict'
import type { Reply } from './visitor.ts'
import type { CheckContext } from './context.ts'

export interface Terms {
  /** Admin settings that the check needs; they are set before it runs and restored afterwards. */
  readonly settings?: Readonly<Record<string, number | boolean | string>>
  /** It changes what all users see, so nothing else runs meanwhile. */
  readonly alone?: boolean
  /** Seconds that the check has to wait. It runs beside the others, under any settings; over 90 only with `--slow`. */
  readonly takes?: number
}

export interface Check extends Terms {
  /** Section of the specification, a dot, and a number of its own. */
  readonly id: string
  readonly section: string
  readonly sentence: string
  readonly run: (context: CheckContext) => Promise<void>
}

/** Registers one check: the rule, and its proof, which throws if the rule does not hold. */
export interface WriteDown {
  (id: string, sentence: string, run: Check['run']): void
  (id: string, sentence: string, terms: Terms, run: Check['run']): void
}

/** Registers checks in this list. */
export function into(list: Check[]): WriteDown {
  return (id: string, sentence: string, ...rest: [Check['run']] | [Terms, Check['run']]) => {
    const [terms, run] = rest.length === 1 ? [{}, rest[0]] : rest
    list.push({ id, section: id.slice(0, id.lastIndexOf('.')), sentence, run, ...terms })
  }
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

/** The answer is an error of this status in the standard form: `error`, `code`, `requestId` (contract 2). */
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

/** A price as the API takes it: with at most 6 decimals, which sums of floats may exceed. */
export const millionths = (value: number): number => Math.round(value * 1e6) / 1e6
