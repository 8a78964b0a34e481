/** What a check is, and how it says what must be so. */
import assert from 'node:assert/strict'
import type { Reply } from './visitor.ts'
import type { CheckContext } from './context.ts'

export interface Terms {
  /** Admin settings under which it holds; they are set before it runs and put back afterwards. */
  readonly settings?: Readonly<Record<string, number | boolean | string>>
  /** It changes what everybody sees, so nothing else runs meanwhile. */
  readonly alone?: boolean
  /** Seconds that have to pass in it. It runs beside the others, under whatever settings; over 90 only with `--slow`. */
  readonly takes?: number
}

export interface Check extends Terms {
  /** Section of the specification, a dot, and a number of its own. */
  readonly id: string
  readonly section: string
  readonly sentence: string
  readonly run: (context: CheckContext) => Promise<void>
}

/** Writes down one check: what must be so, and the proof of it, which throws when it is not. */
export interface WriteDown {
  (id: string, sentence: string, run: Check['run']): void
  (id: string, sentence: string, terms: Terms, run: Check['run']): void
}

/** Writes checks into this list. */
export function into(list: Check[]): WriteDown {
  return (id: string, sentence: string, ...rest: [Check['run']] | [Terms, Check['run']]) => {
    const [terms, run] = rest.length === 1 ? [{}, rest[0]] : rest
    list.push({ id, section: id.slice(0, id.lastIndexOf('.')), sentence, run, ...terms })
  }
}

/** This deployment cannot be asked. The check is reported as skipped, with the reason. */
export class Skip extends Error {
  override name = 'Skip'
}

/** The answer has this status and, field by field as far as named, this body. */
export function says(reply: Reply, status: number, part?: object): void {
  const told = `${reply.asked} was answered ${reply.status} ${reply.text.slice(0, 500)}`
  assert.equal(reply.status, status, told)
  if (part !== undefined)
    assert.partialDeepStrictEqual(reply.body, part, `${told}, which lacks ${JSON.stringify(part)}`)
}

/** The answer is an error of this status in the one form there is: `error`, `code`, `requestId` (contract 2). */
export function refuses(reply: Reply, status: number, facts: object = {}): void {
  says(reply, status, facts)
  const { error, code, requestId, stack } = reply.body as Record<string, unknown>
  assert(typeof error === 'string' && error !== '', `no error text in ${reply.text}`)
  assert(typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code), `no stable code in ${reply.text}`)
  assert(typeof requestId === 'string' && requestId !== '', `no request id in ${reply.text}`)
  assert.equal(stack, undefined, 'an answer carries a stack trace')
}

/** The header is there and a whole number from 1 to `most`. */
export function retryAfter(reply: Reply, most: number): number {
  const seconds = Number(reply.headers.get('retry-after') ?? 'none')
  assert(Number.isInteger(seconds) && seconds >= 1 && seconds <= most, `Retry-After of ${reply.asked} is ${seconds}`)
  return seconds
}

/** The two are equal but for what six decimals cannot hold. */
export function near(actual: number, expected: number, what: string, within = 0.000_001): void {
  assert(Math.abs(actual - expected) <= within + 1e-9, `${what} is ${actual}, not ${expected}`)
}
