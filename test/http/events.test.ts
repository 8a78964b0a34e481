import { describe, expect, it, vi } from 'vitest'
import { z } from '@hono/zod-openapi'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, instrumentId, positionId } from '../../actors/kernel/ids.ts'
import { lots, money } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import type { CommittedEvent } from '../../actors/community/committed-event.ts'
import { isBeyond, type StreamEvent, type StreamPlace } from '../../db/event-stream.ts'
import { EventFeed } from '../../src/http/event-feed.ts'
import { eventCursors } from '../../src/http/event-lines.ts'
import { TestWorld } from '../support/test-world.ts'
import { operations } from './api-document.ts'
import { ALICE, apiJudge, openHttpRig } from './http-rig.ts'

const owned = { userId: ALICE, purse: 'main' } as const
const closed: CommittedEvent = {
  kind: 'closed',
  ...owned,
  positionId: positionId('0197f2a0-0000-7000-8000-0000000000f1'),
  instrumentId: instrumentId('0197f2a0-0000-7000-8000-0000000000a1'),
  direction: 'long',
  lots: lots(500_000),
  margin: money(50_000_000),
  pnl: money(1_250_000),
  baseMove: money(1_000_000),
  openedAt: instant(1_000),
  by: 'take_profit',
  voidReason: null,
}

/** A stream of closes, to which a test may add; what was numbered counts. */
function streamRig() {
  const world = new TestWorld()
  const all: StreamEvent[] = []
  const pauses: (() => void)[] = []
  let isStopping = false
  const add = (event: CommittedEvent): void => {
    const seq = all.length + 1
    all.push({ matchId: fixtureId(7), seq, n: 0, at: instant(2_000), event, after: [seq, seq + 1, 0] })
  }
  const feed = new EventFeed({
    stream: {
      sweep: async () => undefined,
      end: async (): Promise<StreamPlace> => [all.length + 1, 0, 0],
      isAhead: async (place) => isBeyond(place, [all.length + 1, 0, 0]),
      after: async ([position, seq], limit) =>
        all.filter((e) => e.after[0] > position || (e.after[0] === position && e.seq >= seq)).slice(0, limit),
      beyondGap: async (place) => place,
    },
    clock: world,
    isStopping: () => isStopping,
    pause: async (ms) => {
      world.pass(ms)
      pauses.shift()?.()
    },
  })
  return { world, feed, add, pauses, stop: () => (isStopping = true) }
}

const Line = z.looseObject({ id: z.string(), cursor: z.string() })
const linesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Line.parse(JSON.parse(line)))

const wanted = { after: [1, 0, 0], limit: 1_000, follow: false, mayGoOn: async () => true } as const

describe('GET /api/admin/events', () => {
  it('[R18] streams facts in the words of the API, and goes on after any line', async () => {
    const { feed, add } = streamRig()
    add({ kind: 'opened', ...owned })
    add(closed)
    add({ kind: 'match_settled' })
    const { asAlice } = await openHttpRig({ role: 'admin', deps: { events: feed } })
    const response = await asAlice('/api/admin/events')
    expect(response.headers.get('content-type')).toBe('application/x-ndjson')
    const lines = linesOf(await response.text())
    expect(lines.map(({ id, type }) => [id, type])).toEqual([
      ['7/1/0', 'position.opened'],
      ['7/2/0', 'position.closed'],
      ['7/3/0', 'match.settled'],
    ])
    expect(lines[1]).toMatchObject({
      matchId: 7,
      at: '1970-01-01T00:00:02.000Z',
      userId: ALICE,
      lotSize: 0.5,
      margin: 50,
      realizedPnl: 1.25,
      baseMove: 1,
      closedBy: 'take_profit',
      voidReason: null,
    })
    for (const [n, { cursor }] of lines.entries()) {
      const rest = await (await asAlice(`/api/admin/events?after=${cursor}`)).text()
      expect(linesOf(rest)).toEqual(lines.slice(n + 1))
    }
    expect(linesOf(await (await asAlice('/api/admin/events?limit=2')).text())).toHaveLength(2)
    expect(await (await asAlice('/api/admin/events?from=latest')).text()).toBe('')
    const cursor = present(lines[0], 'line').cursor
    expect((await asAlice(`/api/admin/events?after=${cursor.slice(0, -2)}`)).status).toBe(400)
    expect((await asAlice('/api/admin/events?follow=yes')).status).toBe(400)
  })

  it('[R18] refuses a place that it has not reached, as after a restore, but not its end or its start', async () => {
    const { feed, add } = streamRig()
    const { asAlice } = await openHttpRig({ role: 'admin', deps: { events: feed } })
    const refusal = async (cursor: string): Promise<unknown> => {
      const text = await (await asAlice(`/api/admin/events?after=${cursor}`)).text()
      return text.includes('VALIDATION_FAILED') ? JSON.parse(text) : null
    }
    const ahead = { issues: [{ path: 'after', message: expect.stringContaining('leave it out') }] }
    const { parameters } = present(operations((await apiJudge()).document).get('get /api/admin/events'), 'operation')
    const { example } = present(parameters?.find(({ name }) => name === 'after')?.schema, 'schema')
    expect(await refusal(String(example)), 'the example, of a fresh server').toBeNull()
    for (const place of [
      [1, 0, 1],
      [1, 1, 0],
      [2, 0, 0],
    ] as const) {
      expect(await refusal(eventCursors.write([...place]))).toMatchObject(ahead)
    }
    add(closed)
    for (const place of [
      [1, 2, 0],
      [2, 0, 0],
    ] as const) {
      expect(await refusal(eventCursors.write([...place]))).toBeNull()
    }
    expect(await refusal(eventCursors.write([2, 0, 1]))).toMatchObject(ahead)
  })

  it('[R18] is for keys with `admin:read`', async () => {
    const { app, keyRig } = await openHttpRig({ role: 'admin', deps: { events: streamRig().feed } })
    const owner = { id: ALICE, role: 'admin' }
    const ask = async (scope: 'read' | 'admin:read') => {
      const authorization = `Bearer ${await keyRig.keyOf(owner, [scope])}`
      return (await app.request('/api/admin/events', { headers: { authorization } })).status
    }
    expect([await ask('read'), await ask('admin:read')]).toEqual([403, 200])
  })

  it('follows what comes, says so while nothing does, and ends after five minutes', async () => {
    const { world, feed, add, pauses } = streamRig()
    add(closed)
    pauses.push(
      () => undefined,
      () => add({ kind: 'match_settled' }),
    )
    const began = world.now()
    const chunks: string[] = []
    for await (const chunk of feed.lines({ ...wanted, follow: true })) chunks.push(chunk)
    expect(linesOf(chunks.join('')).map(({ id }) => id)).toEqual(['7/1/0', '7/2/0'])
    const quiet = chunks.filter((chunk) => chunk === '\n').length
    expect(quiet).toBeGreaterThan(17)
    expect(quiet).toBeLessThan(21)
    expect(world.now() - began).toBeGreaterThanOrEqual(300_000)
    expect(world.now() - began).toBeLessThan(301_000)
  })

  it('ends when the process stops, and after as many lines as were wanted', async () => {
    const { feed, add, stop } = streamRig()
    for (let n = 0; n < 5; n++) add(closed)
    const three = feed.lines({ ...wanted, follow: true, limit: 3 })
    let text = ''
    for await (const chunk of three) text += chunk
    expect(linesOf(text)).toHaveLength(3)
    stop()
    expect(await feed.lines({ ...wanted, follow: true }).next()).toMatchObject({ done: true })
  })

  it('[R19] ends within a second of the end of its session or role, and sends nothing that happens later', async () => {
    for (const loses of ['session', 'role'] as const) {
      const { world, feed, add, pauses } = streamRig()
      const rig = await openHttpRig({ role: 'admin', deps: { events: feed } })
      const { accounts, sessions } = rig.deps
      add(closed)
      let lostAt = 0
      pauses.push(() => {
        lostAt = world.now()
        if (loses === 'session') void sessions.endAll(ALICE)
        else vi.spyOn(accounts, 'find').mockResolvedValue(null)
      })
      for (let n = 0; n < 5; n++) pauses.push(() => add(closed))
      const text = await (await rig.asAlice('/api/admin/events?follow=true')).text()
      expect(linesOf(text).length, loses).toBeLessThanOrEqual(2)
      expect(world.now() - lostAt, loses).toBeLessThanOrEqual(1_000)
    }
  })

  it('[R19] opens two answers for an admin, and frees them when they end or are left', async () => {
    const { feed } = streamRig()
    const { asAlice } = await openHttpRig({ role: 'admin', deps: { events: feed } })
    const follow = () => asAlice('/api/admin/events?follow=true')
    const [first, second] = [await follow(), await follow()]
    expect([first.status, second.status]).toEqual([200, 200])
    const refused = await follow()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    await first.body?.cancel()
    await vi.waitUntil(async () => (await asAlice('/api/admin/events')).status === 200, { timeout: 60_000 })
  })
})

describe('/api/admin/webhooks', () => {
  it('[R20] creates one and shows its secret once, uncompressed', async () => {
    const { send, asAlice } = await openHttpRig({ role: 'admin' })
    const headers = { 'accept-encoding': 'br, gzip' }
    const url = `https://hooks.example/${'x'.repeat(470)}`
    const made = await send('POST', '/api/admin/webhooks', { url, types: ['position.closed'] }, headers)
    expect([made.status, made.headers.get('content-encoding')]).toEqual([201, null])
    const text = await made.text()
    expect(JSON.parse(text)).toMatchObject({ webhook: { url, types: ['position.closed'] }, secret: 'whsec_c2VjcmV0' })
    const listed = await (await asAlice('/api/admin/webhooks')).text()
    expect(JSON.parse(listed)).toMatchObject({ webhooks: [{ state: 'active', waiting: 3, failingSince: null }] })
    expect(listed).not.toContain('whsec')
  })

  it('refuses other addresses, unknown types and an eleventh', async () => {
    const { send } = await openHttpRig({ role: 'admin' })
    const create = async (body: object) => {
      const response = await send('POST', '/api/admin/webhooks', body)
      return [response.status, z.looseObject({ code: z.string() }).parse(await response.json()).code]
    }
    expect(await create({ url: 'http://hooks.example/' })).toEqual([400, 'VALIDATION_FAILED'])
    expect(await create({ url: 'https://a.example/', types: ['price.moved'] })).toEqual([400, 'VALIDATION_FAILED'])
    expect(await create({ url: 'https://a.example/', after: 'x' })).toEqual([400, 'VALIDATION_FAILED'])
    expect(await create({ url: 'https://full.example/' })).toEqual([409, 'WEBHOOK_LIMIT'])
  })

  it('pauses, tries and deletes one; an unknown one is 404', async () => {
    const { send, asAlice } = await openHttpRig({ role: 'admin' })
    const [known, unknown] = ['d1', 'd2'].map((end) => `/api/admin/webhooks/0197f2a0-0000-7000-8000-0000000000${end}`)
    const paused = await send('PATCH', known ?? '', { state: 'paused' })
    expect(await paused.json()).toMatchObject({ webhook: { state: 'paused' } })
    expect((await send('PATCH', known ?? '', { state: 'disabled' })).status).toBe(400)
    expect(await (await asAlice(`${known}/test`, { method: 'POST' })).json()).toEqual({ status: 204, error: null })
    expect(await (await asAlice(known ?? '', { method: 'DELETE' })).json()).toEqual({ deleted: true })
    expect((await send('PATCH', unknown ?? '', { state: 'paused' })).status).toBe(404)
    expect((await asAlice(`${unknown}/test`, { method: 'POST' })).status).toBe(404)
    expect((await asAlice(unknown ?? '', { method: 'DELETE' })).status).toBe(404)
  })
})
