/** What a feature adds to the REST API and to the page. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { HttpEnv } from './answers.ts'
import type { ErrorTable } from './error-facts.ts'
import type { Gates } from './gates.ts'
import type { HttpDeps } from './ports.ts'
import type { Share } from './web-files.ts'

export interface ApiPart {
  /** Mounted after the routes that are always there. */
  readonly routes?: readonly Routes[]
  readonly errors?: ErrorTable
  /** The topics of its routes in the API description, beside those that are always there. */
  readonly topics?: readonly Topic[]
  /** What its routes may not find: `what` of `NOT_FOUND`. */
  readonly things?: readonly string[]
  /** `Cache-Control` of its answers that a client may keep, by path. */
  readonly cached?: Readonly<Record<string, string>>
  /** How many bytes a body may have that is sent to a path, where 64 KiB are too few. */
  readonly bodies?: Readonly<Record<string, number>>
  /** Its paths that are to go. */
  readonly deprecated?: readonly string[]
  /** Addresses of the page that people share. */
  readonly shares?: readonly SharedPage[]
}

/** What the API description sorts routes by. */
export interface Topic {
  readonly name: string
  readonly description: string
}

/** Takes what its handlers need and returns them mounted. */
export type Routes = (deps: HttpDeps, gates: Gates) => OpenAPIHono<HttpEnv>

export interface SharedPage {
  /** With one parameter, as Hono writes it. */
  readonly path: string
  /** What networks show beside the link; null to show what they show beside any invitation. */
  readonly of: (parameter: string) => Promise<Share | null>
  /** The picture of a share that has one, a PNG at `/picture` below the link; null if there is none now. */
  readonly picture?: (parameter: string, gone: AbortSignal) => Promise<Uint8Array<ArrayBuffer> | null | 'busy'>
}
