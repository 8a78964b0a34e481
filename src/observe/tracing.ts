/**
 * Traces for an OpenTelemetry collector: a request, its command and its commit are spans of one trace, also across
 * processes. The packages are loaded only when a collector is configured.
 */
import type { Attributes } from '@opentelemetry/api'
import type { UserCommand } from '../../actors/match/messages.ts'
import type { Batch, MatchStore, Verdict } from '../../actors/match/store.ts'
import type { Config } from '../config.ts'
import type { Desk } from '../http/desk-port.ts'
import type { Log } from './log.ts'

export interface SpanOptions {
  /** `server`: a client's request; `client`: a call to the database; `internal`: work within the program. */
  readonly kind: 'server' | 'internal' | 'client'
  /** The W3C `traceparent` of the parent span; without one a new trace begins. */
  readonly parent: string | undefined
  readonly attributes?: Attributes
}

/** A piece of work under way. */
export interface Span {
  /** Passes the trace on to the next step. */
  readonly traceparent: string
  /** Ends the span. Call it once. */
  end(how: { readonly attributes: Attributes; readonly name?: string; readonly hasFailed?: boolean }): void
}

export interface Tracing {
  begin(name: string, options: SpanOptions): Span
  /** Sends the remaining spans; gives up on a collector that does not accept them. */
  stop(): Promise<void>
}

export interface TracingOptions {
  readonly config: NonNullable<Config['tracing']>
  readonly roles: Config['roles']
  readonly processId: string
  readonly log: Log
}

/** Spans are sent every five seconds, and dropped beyond 2,048: a collector that is down costs a request nothing. */
export async function startTracing({ config, roles, processId, log }: TracingOptions): Promise<Tracing> {
  const [api, core, resources, sdk, otlp] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/core'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ])
  const exporter = new otlp.OTLPTraceExporter({ url: `${config.endpoint}/v1/traces`, timeoutMillis: EXPORT_MS })
  const send = exporter.export.bind(exporter)
  let isFailing = false
  exporter.export = (spans, done) =>
    send(spans, (result) => {
      const hasFailed = result.code !== core.ExportResultCode.SUCCESS
      if (hasFailed && !isFailing) log.warn('trace_export_failed', { error: result.error })
      if (!hasFailed && isFailing) log.info('trace_export_recovered')
      isFailing = hasFailed
      done(result)
    })
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes({
      'service.name': config.serviceName,
      'service.instance.id': processId,
      'touchline.roles': [...roles],
    }),
    // Honour the caller's sampling decision.
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(config.share) }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('touchline')
  const propagator = new core.W3CTraceContextPropagator()
  const kinds = { server: api.SpanKind.SERVER, internal: api.SpanKind.INTERNAL, client: api.SpanKind.CLIENT }

  return {
    begin(name, { kind, parent, attributes = {} }) {
      const carried = parent === undefined ? {} : { traceparent: parent }
      const context = propagator.extract(api.ROOT_CONTEXT, carried, api.defaultTextMapGetter)
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, context)
      const next: { traceparent?: string } = {}
      propagator.inject(api.trace.setSpan(context, span), next, api.defaultTextMapSetter)
      return {
        traceparent: next.traceparent ?? '',
        end({ attributes: found, name: known, hasFailed = false }) {
          if (known !== undefined) span.updateName(known)
          span.setAttributes(found)
          if (hasFailed) span.setStatus({ code: api.SpanStatusCode.ERROR })
          span.end()
        },
      }
    },
    stop: () => provider.shutdown().catch((error: unknown) => log.warn('tracing_stop_failed', { error })),
  }
}

/** Shorter than the time that a process has to stop. */
const EXPORT_MS = 2_000

/** The same desk, with a span for each command of a traced request. */
export function tracedDesk(desk: Desk, tracing: Tracing): Desk {
  return {
    quote: (query) => desk.quote(query),
    recall: (user, idempotency) => desk.recall(user, idempotency),
    ask: (kind, request) => desk.ask(kind, request),
    async submit(command: UserCommand) {
      if (command.trace === undefined) return desk.submit(command)
      const span = tracing.begin(`desk ${command.kind}`, { kind: 'internal', parent: command.trace })
      let result = 'fault'
      try {
        const outcome = await desk.submit({ ...command, trace: span.traceparent })
        result = outcome.ok ? 'done' : outcome.refusal.code
        return outcome
      } finally {
        span.end({ attributes: { 'touchline.outcome': result }, hasFailed: result === 'fault' })
      }
    },
  }
}

/** The same store, with a span for each commit in the trace of every request that it carries out. */
export function tracedStore(store: MatchStore, tracing: Tracing): MatchStore {
  return {
    load: (matchId) => store.load(matchId),
    histories: (ids) => store.histories(ids),
    recall: (userId, idempotency) => store.recall(userId, idempotency),
    async commit(batch: Batch) {
      const { traces = [] } = batch
      if (traces.length === 0) return store.commit(batch)
      const attributes = {
        'db.system.name': 'postgresql',
        'touchline.match': batch.matchId,
        'touchline.epoch': batch.epoch,
        'touchline.batch': batch.id,
        'touchline.commands': batch.watch.length,
      }
      const spans = traces.map((parent) => tracing.begin('commit', { kind: 'client', parent, attributes }))
      let verdict: Verdict['kind'] | 'fault' = 'fault'
      try {
        const result = await store.commit(batch)
        verdict = result.kind
        return result
      } finally {
        for (const span of spans)
          span.end({ attributes: { 'touchline.verdict': verdict }, hasFailed: verdict === 'fault' })
      }
    },
  }
}
