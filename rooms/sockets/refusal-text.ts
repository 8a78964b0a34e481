/** The answer to what never reaches the app: its status, and a body that names it like every other error. */
import { STATUS_CODES } from 'node:http'

/** When to try again. A limit counts by the minute. */
const RETRY_AFTER_SECS: Readonly<Record<number, number>> = { 429: 60, 503: 5 }

export const refusalBody = (status: number): string => JSON.stringify({ error: STATUS_CODES[status]?.toLowerCase() })

/** The whole answer, as it is sent. */
export function refusalText(status: number): string {
  const retryAfterSecs = RETRY_AFTER_SECS[status]
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'connection: close',
    'content-type: application/json',
    `content-length: ${refusalBody(status).length}`,
    ...(retryAfterSecs === undefined ? [] : [`retry-after: ${retryAfterSecs}`]),
  ]
  return `${head.join('\r\n')}\r\n\r\n${refusalBody(status)}`
}
