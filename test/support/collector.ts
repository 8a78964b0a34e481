/** An OpenTelemetry collector that accepts traces over HTTP as JSON. */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { once } from 'node:events'
import { z } from 'zod'
import { listen } from '../../ops/rehearse/conformance/listen.ts'

const Value = z.object({ stringValue: z.string().optional(), intValue: z.union([z.int(), z.string()]).optional() })
const Attributes = z
  .array(z.object({ key: z.string(), value: z.looseObject(Value.shape) }))
  .transform((all) => new Map(all.map(({ key, value }) => [key, value.stringValue ?? value.intValue])))
const Export = z.object({
  resourceSpans: z.array(
    z.looseObject({
      resource: z.looseObject({ attributes: Attributes }),
      scopeSpans: z.array(
        z.looseObject({
          spans: z.array(
            z.looseObject({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().optional(),
              name: z.string(),
              kind: z.int(),
              attributes: Attributes,
            }),
          ),
        }),
      ),
    }),
  ),
})

export interface SpanSeen {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly kind: number
  readonly attributes: ReadonlyMap<string, string | number | undefined>
  /** The process that made the span. */
  readonly instance: string
  readonly service: string
}

export class Collector {
  readonly url: string
  readonly spans: SpanSeen[] = []
  readonly #server: Server

  private constructor(server: Server, url: string) {
    this.#server = server
    this.url = url
    server.on('request', (request, response) => {
      void this.#collect(request).then(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
    })
  }

  static async open(): Promise<Collector> {
    const server = createServer()
    return new Collector(server, `http://127.0.0.1:${await listen(server, 0)}`)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #collect(request: IncomingMessage): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (request.url !== '/v1/traces') return
    for (const { resource, scopeSpans } of Export.parse(JSON.parse(Buffer.concat(chunks).toString())).resourceSpans) {
      const instance = String(resource.attributes.get('service.instance.id'))
      const service = String(resource.attributes.get('service.name'))
      for (const { spans } of scopeSpans)
        for (const span of spans) {
          this.spans.push({ ...span, parentSpanId: span.parentSpanId, instance, service })
        }
    }
  }
}
