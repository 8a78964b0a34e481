import { brotliDecompressSync } from 'node:zlib'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import type { HttpEnv } from '../../src/http/answers.ts'
import { SHARED, validated } from '../../src/http/caching.ts'
import { compressJson } from '../../src/http/compression.ts'
import { sharedAnswers } from '../../src/http/shared-answers.ts'
import { FIXTURE, openHttpRig, PLAYER } from './http-rig.ts'

const LIST = { list: 'x'.repeat(2_000) }

/** An API with one list. Each time it is made, its maker waits to be released, in turn. */
function openList(answer: (time: number) => Response = () => Response.json(LIST)) {
  let made = 0
  const held: PromiseWithResolvers<void>[] = []
  const app = new Hono<HttpEnv>()
  app.use(async (c, next) => {
    c.header('X-Asked', c.req.header('x-asked'))
    await next()
  })
  app.use(compressJson(), validated(SHARED))
  app.onError((error, c) => c.text(error.message, 500))
  app.get('/list', sharedAnswers(), async () => {
    const time = ++made
    const turn = Promise.withResolvers<void>()
    held.push(turn)
    await turn.promise
    return answer(time)
  })
  return {
    ask: (headers: Record<string, string> = {}) => Promise.resolve(app.request('/list', { headers })),
    /** Lets every answer be made that is being made or waits for it. */
    release: async (): Promise<void> => {
      for (let turn = held.shift(); turn !== undefined; turn = held.shift()) {
        turn.resolve()
        await new Promise(setImmediate)
      }
    },
    made: () => made,
  }
}

describe('[H35] an answer that is the same for all', () => {
  it('is made twice for a crowd that asks at once, with its ETag and compressed once', async () => {
    const { ask, release, made } = openList()
    const crowd = Array.from({ length: 1_000 }, (_, n) => ask({ 'x-asked': String(n), 'accept-encoding': 'br' }))
    await new Promise(setImmediate)
    await release()
    const answers = await Promise.all(crowd)
    expect(made()).toBe(2)
    expect(new Set(answers.map(({ headers }) => headers.get('etag'))).size).toBe(1)
    for (const [n, answer] of answers.entries()) {
      expect([answer.status, answer.headers.get('x-asked')]).toEqual([200, String(n)])
      const { headers } = answer
      const bytes = Buffer.from(await answer.arrayBuffer())
      // Where the compressor is busy with the first of them an answer goes out as it is.
      const text = headers.get('content-encoding') === 'br' ? brotliDecompressSync(bytes) : bytes
      expect(JSON.parse(text.toString())).toEqual(LIST)
    }
  })

  it('begins to be made after its readers have asked', async () => {
    const { ask, release } = openList((time) => Response.json({ time }))
    const first = ask()
    await new Promise(setImmediate)
    const [second, third] = [ask(), ask()]
    await new Promise(setImmediate)
    await release()
    const fourth = ask()
    await new Promise(setImmediate)
    await release()
    const times = await Promise.all([first, second, third, fourth].map(async (one) => (await one).json()))
    expect(times).toEqual([{ time: 1 }, { time: 2 }, { time: 2 }, { time: 3 }])
  })

  it('is known to a client that has it', async () => {
    const { ask, release } = openList()
    const first = ask()
    await new Promise(setImmediate)
    await release()
    const etag = (await first).headers.get('etag') ?? ''
    const again = [ask({ 'if-none-match': etag }), ask({ 'if-none-match': etag })]
    await new Promise(setImmediate)
    await release()
    expect((await Promise.all(again)).map(({ status }) => status)).toEqual([304, 304])
  })

  it('is no error: after one, each request that waited is answered alone', async () => {
    const { ask, release, made } = openList((time) => {
      if (time === 1) return Response.json({ error: 'no such list' }, { status: 404 })
      if (time === 2) throw new Error('the database does not answer')
      return Response.json({ time })
    })
    const crowd = Array.from({ length: 4 }, () => ask())
    await new Promise(setImmediate)
    await release()
    await release()
    const answers = await Promise.all(crowd)
    expect(answers.map(({ status }) => status)).toEqual([404, 500, 200, 200])
    expect(made()).toBe(4)
  })
})

describe('[H35] the lists of the market', () => {
  it.each([
    '/api/instruments',
    `/api/instruments/${PLAYER}`,
    `/api/instruments/${PLAYER}/price-history`,
    '/api/matches',
    `/api/matches/${FIXTURE}`,
    `/api/matches/${FIXTURE}/events`,
    `/api/matches/${FIXTURE}/squad?team=home`,
  ])('%s is shared by those who may ask, each with their own headers', async (path) => {
    const { app, asAlice } = await openHttpRig()
    const crowd = Array.from({ length: 20 }, () => asAlice(path))
    const stranger = await app.request(path)
    const answers = await Promise.all(crowd)
    expect([stranger.status, stranger.headers.get('etag')]).toEqual([401, null])
    const bodies = await Promise.all(answers.map((answer) => answer.text()))
    expect([bodies[0]?.length, new Set(bodies).size]).toEqual([expect.any(Number), 1])
    expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(20)
  })
})
