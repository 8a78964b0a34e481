import { describe, expect, it } from 'vitest'
import { FairQueue, Queue } from '../../src/http/queue.ts'
import { alice, openHttpRig } from './http-rig.ts'

/** Lets everything go on that does not wait for a test. */
const settled = () => new Promise(setImmediate)

describe('a queue', () => {
  const here = new AbortController().signal
  const failing = async (): Promise<never> => {
    throw new Error('no luck')
  }

  it('[H21] lets a few in at a time, in order, and asks one too many to come later', async () => {
    const queue = new Queue({ together: 2, waiting: 3, withinMs: 60_000 })
    const inside: { readonly n: number; readonly leave: () => void }[] = []
    const enter = (n: number) =>
      queue.run(here, async () => {
        await new Promise<void>((leave) => inside.push({ n, leave }))
        return n
      })
    const [first, second] = [enter(1), enter(2)]
    const failed = queue.run(here, failing).catch(String)
    const [third, fourth] = [enter(3), enter(4)]
    expect(await enter(5)).toBeNull()
    expect(inside.map(({ n }) => n)).toEqual([1, 2])
    inside[1]?.leave()
    expect(await second).toBe(2)
    // One that fails gives up its place as well.
    expect(await failed).toBe('Error: no luck')
    await settled()
    expect(inside.map(({ n }) => n)).toEqual([1, 2, 3])
    for (const { leave } of inside) leave()
    await settled()
    inside[3]?.leave()
    expect([await first, await third, await fourth]).toEqual([1, 3, 4])
    const later = enter(6)
    await settled()
    inside[4]?.leave()
    expect(await later).toBe(6)
  })

  it('[H21] a caller that has gone, or waited too long, leaves it and is not served', async () => {
    for (const [withinMs, isLeaving] of [
      [60_000, true],
      [1, false],
    ] as const) {
      const queue = new Queue({ together: 1, waiting: 9, withinMs })
      const { promise: done, resolve: leave } = Promise.withResolvers<void>()
      const first = queue.run(here, async () => done)
      const gone = new AbortController()
      let served = 0
      const second = queue.run(gone.signal, async () => void served++)
      if (isLeaving) gone.abort()
      expect(await second).toBeNull()
      leave()
      await first
      expect(await queue.run(here, async () => 'next')).toBe('next')
      expect(served).toBe(0)
    }
  })

  it('[H21] a fair queue lets an owner in once at a time, so that one who asks often does not delay the others', async () => {
    const queue = new FairQueue({ together: 2, waiting: 9, waitingOfOne: 2, withinMs: 60_000 })
    const inside: { readonly who: string; readonly leave: () => void }[] = []
    const enter = (who: string) =>
      queue.run(who, here, async () => {
        await new Promise<void>((leave) => inside.push({ who, leave }))
        return who
      })
    const often = [enter('often'), enter('often'), enter('often')]
    expect(await enter('often')).toBeNull()
    const other = enter('other')
    await settled()
    expect(inside.map(({ who }) => who)).toEqual(['often', 'other'])
    inside[1]?.leave()
    expect(await other).toBe('other')
    for (const n of [0, 2, 3]) {
      inside[n]?.leave()
      await settled()
    }
    expect(await Promise.all(often)).toEqual(['often', 'often', 'often'])
    expect(inside.map(({ who }) => who)).toEqual(['often', 'other', 'often', 'often'])
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
