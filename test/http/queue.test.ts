import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import type { HttpEnv } from '../../src/http/answers.ts'
import { queue } from '../../src/http/queue.ts'
import { alice, openHttpRig } from './http-rig.ts'

/** Lets everything go on that does not wait for a test. */
const settled = () => new Promise(setImmediate)

describe('a queue', () => {
  it('[H21] lets a few in at a time, in order, and asks one too many to come later', async () => {
    const inside: { readonly n: string; readonly leave: (error?: Error) => void }[] = []
    const app = new Hono<HttpEnv>()
      .use('/:n', queue({ together: 2, waiting: 2 }))
      .get('/:n', async (c) => {
        await new Promise<void>((resolve, reject) => {
          inside.push({ n: c.req.param('n'), leave: (error) => (error === undefined ? resolve() : reject(error)) })
        })
        return c.text('in')
      })
      .onError((_error, c) => c.text('failed', 500))
    const [first, second, third, fourth, fifth] = [1, 2, 3, 4, 5].map(async (n) => app.request(`/${n}`))
    const refused = present(await fifth, 'answer')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    expect(inside.map(({ n }) => n)).toEqual(['1', '2'])
    // One that fails gives up its place as well.
    inside[1]?.leave(new Error('no luck'))
    expect((await second)?.status).toBe(500)
    await settled()
    expect(inside.map(({ n }) => n)).toEqual(['1', '2', '3'])
    inside[0]?.leave()
    await first
    await settled()
    expect(inside.map(({ n }) => n)).toEqual(['1', '2', '3', '4'])
    for (const { leave } of inside) leave()
    expect([(await third)?.status, (await fourth)?.status]).toEqual([200, 200])
    const later = app.request('/6')
    await settled()
    inside[4]?.leave()
    expect((await later).status).toBe(200)
  })

  it('[H21] a crowd that signs in is let in a few at a time, and keeps nobody from refreshing a session', async () => {
    const waiting: (() => void)[] = []
    const { send, app } = await openHttpRig({
      deps: {
        signIn: {
          begin: async () => {
            await new Promise<void>((go) => waiting.push(go))
            return { kind: 'signed_in', user: alice, kept: false, authenticatedAt: null }
          },
          checkCode: async () => ({ kind: 'right' }),
          resendCode: async () => ({ kind: 'sent', nextInMs: 60_000 }),
          complete: async () => ({ kind: 'registered', user: alice, isNew: true }),
        },
      },
    })
    const body = { idToken: 'token', nonce: 'nonce' }
    const answers = Array.from({ length: 10 }, () => send('POST', '/api/auth/google', body))
    await settled()
    expect(waiting).toHaveLength(2)
    expect((await app.request('/api/auth/refresh', { method: 'POST' })).status).toBe(401)
    for (const [n, answer] of answers.entries()) {
      waiting[n]?.()
      await answer
      await settled()
    }
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
  })
})
