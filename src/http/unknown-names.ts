/** Unknown fields and parameters: each is refused by name, with the known name that it most resembles. */
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { answerWith, fail, type HttpEnv } from './answers.ts'

/** The most edits between an unknown name and the known one that is suggested. */
const EDITS_MAX = 2

/** An object of a request body. A misspelt field is refused: it must not become a position without a stop-loss. */
export const strictBody = <const Shape extends z.core.$ZodShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys' || !(issue.inst instanceof z.ZodObject)) return undefined
      const known = Object.keys(issue.inst.shape)
      return issue.keys.map((name) => unknown(name, known)).join('\n')
    },
  })

/**
 * Refuses query parameters that the route of a request does not describe: of routes that need a session, behind their
 * gates, or of all others. `definitions` are read at the first request.
 */
export function knownParameters<Env extends HttpEnv>(
  registry: OpenAPIHono['openAPIRegistry'],
  behindGates: boolean,
): MiddlewareHandler<Env> {
  let known: ReturnType<typeof parametersByPath> | null = null
  return async (c, next) => {
    if (c.req.url.includes('?')) {
      known ??= parametersByPath(registry)
      const route = known(c.req.method === 'HEAD' ? 'GET' : c.req.method, c.req.path)
      const of = route?.isProtected === behindGates ? route.names : null
      const issues = Object.keys(c.req.query())
        .filter((name) => of !== null && !of.includes(name))
        .map((name) => ({ path: name, message: unknown(name, of ?? []) }))
      if (issues.length > 0) return fail(c, answerWith('VALIDATION_FAILED', { facts: { issues } }))
    }
    return next()
  }
}

/**
 * A function from a method and a concrete path to the names of its query parameters, and whether it needs a session.
 */
function parametersByPath({ definitions }: OpenAPIHono['openAPIRegistry']) {
  const routes = definitions
    .filter((definition) => definition.type === 'route')
    .map(({ route: { method, path, request, security = [] } }) => ({
      method: method.toUpperCase(),
      pattern: pathPattern(path),
      names: namesOf(request?.query),
      isProtected: security.length > 0 && security.every((way) => 'accessCookie' in way || 'personalKey' in way),
    }))
  return (method: string, path: string) =>
    routes.find((route) => route.method === method && route.pattern.test(path)) ?? null
}

/** Null for a loose object, which accepts any name. */
function namesOf(query: unknown): readonly string[] | null {
  if (!(query instanceof z.ZodObject)) return []
  return query.def.catchall instanceof z.ZodUnknown ? null : Object.keys(query.shape)
}

/** Matches the concrete paths of a described one. */
export const pathPattern = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`)

function unknown(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  if (near !== null) return `is unknown; did you mean \`${near}\`?`
  return known.length === 0 ? 'is unknown; there are no parameters' : `is unknown; known are ${known.join(', ')}`
}

function nearest(name: string, known: readonly string[]): string | null {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  const edits = known.map((each) => ({ each, count: editsBetween(plain(name), plain(each)) }))
  const [best] = edits.toSorted((a, b) => a.count - b.count)
  // More than half of a name must be the known one: `to` is near nothing but itself.
  const most = Math.min(EDITS_MAX, Math.floor(plain(best?.each ?? '').length / 2))
  return best !== undefined && best.count <= most && best.count < plain(name).length ? best.each : null
}

const NAME_LENGTH_MAX = 64

/** The Levenshtein distance, or infinity for names too long to be worth comparing. */
function editsBetween(a: string, b: string): number {
  if (a.length > NAME_LENGTH_MAX) return Number.POSITIVE_INFINITY
  let row = Array.from({ length: b.length + 1 }, (_, n) => n)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const swap = (row[j] ?? 0) + (a.charAt(i) === b.charAt(j) ? 0 : 1)
      next.push(Math.min(swap, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
