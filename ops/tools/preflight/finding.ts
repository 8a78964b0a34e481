/** Findings of a check, one line each: `failed` blocks a match day, `warned` is for the operator to judge. */
export interface Finding {
  readonly what: string
  readonly verdict: 'ok' | 'warned' | 'failed'
  /** What was found, with its numbers, and what to do if it is wrong. */
  readonly says: string
}

export const ok = (what: string, says: string): Finding => ({ what, verdict: 'ok', says })
export const warned = (what: string, says: string): Finding => ({ what, verdict: 'warned', says })
export const failed = (what: string, says: string): Finding => ({ what, verdict: 'failed', says })

/** The outermost error message with content, on one line. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return reasonOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  const [line = ''] = (error.message === '' ? error.name : error.message).split('\n')
  return error.cause instanceof Error ? `${line} (${reasonOf(error.cause)})` : line
}

/** The findings of a check. A check that throws or takes too long has failed. */
export async function find(
  what: string,
  withinMs: number,
  check: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<readonly Finding[]>((resolve) => {
    timer = setTimeout(() => resolve([failed(what, `no answer within ${withinMs / 1_000} s`)]), withinMs)
  })
  try {
    return await Promise.race([check(), late])
  } catch (error) {
    return [failed(what, reasonOf(error))]
  } finally {
    clearTimeout(timer)
  }
}
