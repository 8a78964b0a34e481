/** The headers of answers, described once and referred to by every answer that may carry them. */
import { IDEMPOTENCY_KEY } from '../http/inputs.ts'
import type { Operation, RestDocument } from './documents.ts'

const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example })

const HEADERS = {
  'X-Request-Id': {
    description: 'Identifies the request in the log. Errors also carry it as `requestId`.',
    schema: { type: 'string', format: 'uuid' },
    example: '019dd98d-6ba0-7000-8000-0000000000c9',
  },
  'X-Api-Version': text('The version of the API.', '1'),
  RateLimit: text(
    'The state of each limit that the request counts against: its name, requests left (`r`), and seconds until more ' +
      'are allowed (`t`). Absent where limits are off.',
    '"global";r=199;t=60',
  ),
  'RateLimit-Policy': text('The same limits: name, requests (`q`) and seconds (`w`).', '"global";q=200;w=60'),
  'WWW-Authenticate': text('The challenge that HTTP demands with every 401.', 'Bearer realm="touchline"'),
  'Idempotent-Replayed': {
    description: '`true` if the answer is that of an earlier request with the same key.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  ETag: text('For `If-None-Match`.', 'W/"g3EANE0dFRQoUIT75H4xx3J2xuE"'),
  Deprecation: text(
    'Since when the operation should not be used: seconds since 1970 after `@` (RFC 9745).',
    '@1767225600',
  ),
  Link: text('Where to read about the deprecation.', '</api/docs>; rel="deprecation"; type="text/html"'),
  Sunset: text(
    'The day on which the operation is removed (RFC 8594); absent until it is known.',
    'Fri, 01 Jan 2027 00:00:00 GMT',
  ),
} as const
type Name = keyof typeof HEADERS

/** Adds them to every answer of the document. */
export function addHeaders(document: RestDocument): void {
  Object.assign(document.components, { headers: HEADERS })
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const operation of Object.values(operations)) {
      for (const [status, response] of Object.entries(operation.responses)) {
        const headers = namesFor(path, operation, status).map((name) => [
          name,
          { $ref: `#/components/headers/${name}` },
        ])
        Object.assign(response, { headers: { ...response.headers, ...Object.fromEntries(headers) } })
      }
    }
  }
}

function namesFor(path: string, operation: Operation, status: string): readonly Name[] {
  const { parameters = [], responses, deprecated = false } = operation
  const takesKey = parameters.some(({ name }) => name === IDEMPOTENCY_KEY)
  const limited: readonly Name[] = path.startsWith('/api/') ? ['RateLimit', 'RateLimit-Policy'] : []
  const validated = '304' in responses && (status === '200' || status === '304')
  return [
    'X-Request-Id',
    'X-Api-Version',
    ...limited,
    ...(status === '401' ? (['WWW-Authenticate'] as const) : []),
    ...(takesKey ? (['Idempotent-Replayed'] as const) : []),
    ...(validated ? (['ETag'] as const) : []),
    ...(deprecated ? (['Deprecation', 'Link', 'Sunset'] as const) : []),
  ]
}
