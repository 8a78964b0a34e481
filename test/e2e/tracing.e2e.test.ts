/** The trace of a trade, as a collector receives it. */
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { Collector, type SpanSeen } from '../support/collector.ts'
import { HttpClient, pick } from '../support/http-client.ts'
import { killRemaining, PATIENCE, Program, type Settings } from '../support/process.ts'
import { embeddedPlace, onServers, type DataPlace } from '../support/data-place.ts'

afterEach(killRemaining)

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const DECLINED = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = 'b7ad6b7169203331'
const DEMO = { DEMO_TRADERS: '0', DEMO_SPEED: '8' }
async function collector(): Promise<Collector> {
  const opened = await Collector.open()
  onTestFinished(() => opened.close())
  return opened
}

async function start(place: DataPlace, settings: Settings): Promise<Program> {
  const program = new Program({ ...place.env, ...settings })
  await program.listening
  return program
}

/** Opens a position within the caller's trace. */
async function tradeAt(program: Program, traceparent: string): Promise<void> {
  const ada = await HttpClient.of((await program.listening).url, 'Ada')
  const players = await vi.waitUntil(async () => {
    const all = await ada.instruments()
    return all.some(({ tradingStatus }) => tradingStatus === 'OPEN') && all
  }, PATIENCE)
  const { id, currentPrice } = pick(players)
  const order = { instrumentId: id, direction: 'long', lotSize: 0.1, clientPrice: currentPrice }
  const answer = await ada.request('POST', '/api/positions/open', order, { traceparent })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
}

/** The three spans of the trade, each the child of the one before. */
function tradeIn(spans: readonly SpanSeen[]) {
  const mine = spans.filter(({ traceId }) => traceId === TRACE)
  const childOf = (parent: string): SpanSeen =>
    present(
      mine.find(({ parentSpanId }) => parentSpanId === parent),
      `child of ${parent}`,
    )
  const request = childOf(CALLER)
  const desk = childOf(request.spanId)
  return { mine, request, desk, commit: childOf(desk.spanId) }
}

const settings = ({ url }: Collector) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SERVICE_NAME: 'touchline-test' })

it('a traced request, its command and its commit are spans of the trace, unless its caller declines', async () => {
  const [place, seen] = [await embeddedPlace(), await collector()]
  onTestFinished(() => place.remove())
  const program = await start(place, { ...DEMO, ...settings(seen) })
  await tradeAt(program, `00-${TRACE}-${CALLER}-01`)
  await tradeAt(program, `00-${DECLINED}-${CALLER}-00`)
  expect(await program.stop()).toMatchObject({ code: 0, stderr: '' })
  const { mine, request, desk, commit } = tradeIn(seen.spans)
  expect(mine).toHaveLength(3)
  expect([request, desk, commit].map(({ name, kind }) => [name, kind])).toEqual([
    ['POST /api/positions/open', 2],
    ['desk open_position', 1],
    ['commit', 3],
  ])
  expect(Object.fromEntries(request.attributes)).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/api/positions/open',
    'http.response.status_code': 201,
    'touchline.request_id': expect.any(String),
  })
  expect(desk.attributes.get('touchline.outcome')).toBe('done')
  expect(Object.fromEntries(commit.attributes)).toMatchObject({
    'touchline.verdict': 'committed',
    'touchline.epoch': 1,
  })
  expect(new Set(seen.spans.map(({ service }) => service))).toEqual(new Set(['touchline-test']))
  expect(seen.spans.filter(({ traceId }) => traceId === DECLINED)).toEqual([])
  // Other requests begin their own traces, except probes.
  const others = seen.spans.filter(({ traceId }) => traceId !== TRACE)
  expect(others.map(({ name }) => name)).toContain('GET /api/instruments')
  expect(others.map(({ name }) => name)).not.toContain('GET /health')
})

onServers((settle) => {
  it('the trace follows the command to the process that owns the match', async () => {
    const [place, seen] = [await settle(), await collector()]
    onTestFinished(() => place.remove())
    const api = await start(place, { ROLES: 'api', DEMO_REPLAY: 'none', ...settings(seen) })
    const rooms = await start(place, { ROLES: 'rooms', ...DEMO, ...settings(seen) })
    await tradeAt(api, `00-${TRACE}-${CALLER}-01`)
    const ids = [(await api.listening).processId, (await rooms.listening).processId]
    for (const program of [api, rooms]) await program.stop()
    const { request, desk, commit } = tradeIn(seen.spans)
    expect([request, desk, commit].map(({ instance }) => ids.indexOf(instance))).toEqual([0, 0, 1])
  })
})

it('an unavailable collector fails no request', async () => {
  const place = await embeddedPlace()
  onTestFinished(() => place.remove())
  const untraced = await start(place, { ...DEMO, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })
  await tradeAt(untraced, `00-${TRACE}-${CALLER}-01`)
  const { code, stdout } = await untraced.stop()
  expect(code).toBe(0)
  expect(stdout).toContain('trace_export_failed')
})
