/** The contract of every fast store. */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectRedis } from '../../db/fast/fast-redis.ts'
import type { FastStore, Fields } from '../../db/fast/fast-store.ts'

export interface OpenedFastStore {
  readonly store: FastStore
  /** Another client of the same data. */
  readonly other: FastStore
  /** Resolves when the store's clock has advanced by this much. */
  elapse(ms: number): Promise<void>
  close(): Promise<void>
}

const LONG = 3_600_000
const SHORT = 40

export function fastStoreContract(title: string, open: () => Promise<OpenedFastStore>): void {
  describe(title, () => {
    let opened: OpenedFastStore
    let store: FastStore

    beforeEach(async () => {
      opened = await open()
      store = opened.store
    })
    afterEach(() => opened.close())

    describe('text', () => {
      it('expires, and a new value restarts its time to live', async () => {
        await store.set('short', 'x', SHORT)
        await store.set('renewed', 'x', SHORT)
        await store.set('renewed', 'y', LONG)
        await opened.elapse(SHORT)
        expect(await store.get('short')).toBe(null)
        expect(await store.get('renewed')).toBe('y')
      })

      it('is taken by exactly one of several takers', async () => {
        await store.set('ticket', 'seat 7', LONG)
        const taken = await Promise.all([store, opened.other, store, opened.other].map((s) => s.take('ticket')))
        expect(taken.filter((value) => value !== null)).toEqual(['seat 7'])
        expect(await store.get('ticket')).toBe(null)
      })
    })

    describe('marks', () => {
      it('are there for every client, for as long as the longest of their lives', async () => {
        expect(await store.marked('m', ['a'])).toEqual([false])
        expect(await store.mark('m', ['a', 'b'], LONG)).toBe(true)
        expect(await opened.other.mark('m', ['c', 'a'], SHORT)).toBe(true)
        await opened.elapse(SHORT)
        await store.mark('m', ['d'], LONG)
        expect(await opened.other.marked('m', ['d', 'a', 'b', 'nothing'])).toEqual([true, true, true, false])
      })

      it('are added together or not at all where another mark is asked for', async () => {
        expect(await store.mark('m', ['a', 'b'], LONG, 'witness')).toBe(false)
        expect(await store.marked('m', ['a', 'b'])).toEqual([false, false])
        await store.mark('m', ['witness'], LONG)
        expect(await store.mark('m', ['a', 'b'], LONG, 'witness')).toBe(true)
        expect(await store.marked('m', ['a', 'b'])).toEqual([true, true])
        await store.del('m')
        expect(await store.mark('m', ['a'], LONG, 'witness')).toBe(false)
      })

      it('are added however many there are', async () => {
        const marks = Array.from({ length: 20_000 }, (_, n) => `mark ${n}`)
        await store.mark('m', marks, LONG)
        expect(await opened.other.marked('m', ['mark 0', 'mark 19999', 'mark 20000'])).toEqual([true, true, false])
      })
    })

    describe('a claim', () => {
      it('succeeds for exactly one of several claimants', async () => {
        const claims = await Promise.all([store, opened.other, store].map((s) => s.claim('nonce', LONG)))
        expect(claims.filter(Boolean)).toHaveLength(1)
      })

      it('can be made again only when it has expired or was removed', async () => {
        // At once: on a busy machine the first would have expired before the second. Which does not prolong it.
        const both = [store.claim('nonce', SHORT), store.claim('nonce', LONG)]
        expect(await Promise.all(both)).toEqual([true, false])
        await opened.elapse(SHORT)
        expect(await store.claim('nonce', LONG)).toBe(true)
        await store.del('nonce')
        expect(await store.claim('nonce', LONG)).toBe(true)
      })
    })

    describe('fields', () => {
      it('end with the newest version when writers race', async () => {
        const versions = [3, 9, 1, 7, 2, 8, 5]
        await Promise.all(
          versions.map((v, i) => (i % 2 ? store : opened.other).putIfNewer('h', { balance: String(v) }, v, LONG)),
        )
        expect(await store.hashGet('h')).toEqual({ balance: '9', version: '9' })
      })

      it('are gone when they expire or are removed, and any version may follow', async () => {
        await store.putIfNewer('h', { balance: '1' }, 9, SHORT)
        await opened.elapse(SHORT)
        expect(await store.hashGet('h')).toBe(null)
        expect(await store.putIfNewer('h', { balance: '2' }, 8, LONG)).toBe(true)
        await store.del('h')
        expect(await store.putIfNewer('h', { balance: '2' }, 1, LONG)).toBe(true)
      })

      it('of many keys are returned in the order of the keys', async () => {
        await store.putIfNewer('h2', { x: '2' }, 1, LONG)
        await store.putIfNewer('h1', { x: '1' }, 1, LONG)
        expect(await store.hashGetMany(['h1', 'none', 'h2', 'h1'])).toEqual([
          { x: '1', version: '1' },
          null,
          { x: '2', version: '1' },
          { x: '1', version: '1' },
        ])
        expect(await store.hashGetMany([])).toEqual([])
      })

      it('of many keys are written each by its own version, however many there are', async () => {
        await store.putIfNewer('h7', { balance: '70' }, 9, LONG)
        await store.set('h8', 'text', LONG)
        const wanted = Array.from({ length: 250 }, (_, n) => `h${n}`)
        const puts = wanted.map((key, n) => ({ key, fields: { balance: String(n), more: 'x' }, version: 9 }))
        await store.putManyIfNewer(puts, LONG)
        const found = await opened.other.hashGetMany(wanted)
        expect(found).toHaveLength(250)
        for (const [n, fields] of found.entries()) {
          const written = { balance: String(n), more: 'x', version: '9' }
          expect(fields).toEqual(n === 7 ? { balance: '70', version: '9' } : written)
        }
        await store.putManyIfNewer([], LONG)
      })

      it('a key that is not a hash reads as nothing, also among others, and is overwritten', async () => {
        await store.set('odd', 'text', LONG)
        await store.putIfNewer('even', { x: '1' }, 1, LONG)
        expect(await store.hashGet('odd')).toBeNull()
        expect(await store.hashGetMany(['odd', 'even'])).toEqual([null, { x: '1', version: '1' }])
        expect(await store.putIfNewer('odd', { x: '2' }, 1, LONG)).toBe(true)
        expect(await store.hashGet('odd')).toEqual({ x: '2', version: '1' })
      })
    })

    describe('hits', () => {
      it('are counted over all clients, with the end of the window', async () => {
        const hits = await Promise.all([store, opened.other, store].map((s) => s.hit('rate', LONG)))
        expect(hits.map((hit) => hit.count).toSorted((a, b) => a - b)).toEqual([1, 2, 3])
        for (const hit of hits) {
          expect(hit.endsInMs).toBeGreaterThan(LONG - 60_000)
          expect(hit.endsInMs).toBeLessThanOrEqual(LONG)
        }
      })

      it('do not prolong the window, and start again after it', async () => {
        // At once: on a busy machine the first window would have ended before the second hit.
        const [, second] = await Promise.all([store.hit('rate', SHORT), store.hit('rate', LONG)])
        expect(second.endsInMs).toBeLessThanOrEqual(SHORT)
        await opened.elapse(SHORT)
        expect((await store.hit('rate', LONG)).count).toBe(1)
      })
    })

    describe('an allowance', () => {
      const TWO = { calls: 2, windowMs: LONG }

      it('[H6] is shared by all clients, and spent exactly once', async () => {
        const asked = Array.from({ length: 200 }, (_, n) => (n % 2 ? store : opened.other).spend('a', TWO))
        const answers = await Promise.all(asked)
        expect(answers.filter(({ allowed }) => allowed)).toHaveLength(2)
        for (const { left, inMs } of answers.filter(({ allowed }) => !allowed)) {
          expect(left).toBe(0)
          expect(inMs).toBeGreaterThan(LONG - 60_000)
          expect(inMs).toBeLessThanOrEqual(LONG)
        }
        expect(await store.spend('b', TWO)).toMatchObject({ allowed: true, left: 1 })
      })

      it('[H6] is for any stretch of its length, and a refused call does not count', async () => {
        // Long enough that a busy machine asks twice within half of it.
        const half = 8 * SHORT
        const two = { calls: 2, windowMs: 2 * half }
        const asked = async () => (await store.spend('a', two)).allowed
        expect(await asked()).toBe(true)
        await opened.elapse(half)
        expect([await asked(), await asked()]).toEqual([true, false])
        // The first one no longer counts, the second one does.
        await opened.elapse(half)
        expect([await asked(), await asked()]).toEqual([true, false])
        await opened.elapse(2 * half)
        expect(await store.spend('a', two)).toMatchObject({ allowed: true, left: 1 })
      })
    })

    it('behaves as a plain map for every order of calls', async () => {
      let run = 0
      await fc.assert(
        fc.asyncProperty(fc.array(call, { maxLength: 40 }), async (calls) => {
          run++
          const model: Model = new Map()
          for (const { operation, slot, value, version } of calls) {
            const kind = KIND[operation]
            const key = `${run}:${kind}:${slot}`
            const actual = await perform(store, operation, key, value, version)
            expect(actual, `${operation} ${key}`).toEqual(expected(model, operation, key, value, version))
          }
        }),
        { numRuns: 60 },
      )
    })

    it('throws once it is closed', async () => {
      await store.close()
      expect(store.connected).toBe(false)
      await expect(store.get('a')).rejects.toThrow()
      await expect(store.claim('a', LONG)).rejects.toThrow()
    })
  })
}

type Model = Map<string, string | Fields>

/** Operations on keys of one kind: text, fields or a counter. */
const KIND = { get: 't', set: 't', take: 't', claim: 't', del: 't', hashGet: 'h', put: 'h', delHash: 'h', hit: 'c' }
type Operation = keyof typeof KIND

const call = fc.record({
  operation: fc.constantFrom<Operation>('get', 'set', 'take', 'claim', 'del', 'hashGet', 'put', 'delHash', 'hit'),
  slot: fc.integer({ min: 0, max: 2 }),
  value: fc.string({ maxLength: 8 }),
  version: fc.integer({ min: 0, max: 12 }),
})

async function perform(store: FastStore, operation: Operation, key: string, value: string, version: number) {
  switch (operation) {
    case 'get':
      return store.get(key)
    case 'set':
      return store.set(key, value, LONG)
    case 'take':
      return store.take(key)
    case 'claim':
      return store.claim(key, LONG)
    case 'del':
    case 'delHash':
      return store.del(key)
    case 'hashGet':
      return store.hashGet(key)
    case 'put':
      return store.putIfNewer(key, { value }, version, LONG)
    case 'hit':
      return (await store.hit(key, LONG)).count
  }
}

function expected(model: Model, operation: Operation, key: string, value: string, version: number) {
  const present = model.get(key)
  switch (operation) {
    case 'get':
    case 'hashGet':
      return present ?? null
    case 'set':
      return void model.set(key, value)
    case 'take':
      model.delete(key)
      return present ?? null
    case 'claim':
      if (present === undefined) model.set(key, '1')
      return present === undefined
    case 'del':
    case 'delHash':
      return void model.delete(key)
    case 'put': {
      const newer = typeof present !== 'object' || Number(present['version']) < version
      if (newer) model.set(key, { value, version: String(version) })
      return newer
    }
    case 'hit': {
      const count = Number(present ?? 0) + 1
      model.set(key, String(count))
      return count
    }
  }
}

/** On Redis, whose own clock `plain` reads. */
export async function openedOn(
  place: { readonly url: string; readonly prefix: string },
  plain: { time(): Promise<readonly unknown[]> },
  leave: () => void | Promise<void>,
): Promise<OpenedFastStore> {
  const [store, other] = [await connectRedis(place), await connectRedis(place)]
  const clock = async () => {
    const [seconds, micros] = await plain.time()
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)
  }
  return {
    store,
    other,
    async elapse(ms) {
      const end = (await clock()) + ms
      while ((await clock()) <= end);
    },
    async close() {
      await Promise.all([store.close(), other.close()].map((closed) => closed.catch(() => {})))
      await leave()
    },
  }
}
