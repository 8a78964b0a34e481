import { beforeEach, describe, expect, it } from 'vitest'
import { Lifecycle, type Part, type PartKind } from '../../src/compose/lifecycle.ts'

const DRAIN_MS = 2_000

describe('the lifecycle', () => {
  let lifecycle: Lifecycle
  /** The calls, in order. */
  let course: string[]
  /** True if deadlines pass at once, else they never do. */
  let isTimePassing: boolean

  beforeEach(() => {
    course = []
    isTimePassing = false
    lifecycle = new Lifecycle({
      drainMs: DRAIN_MS,
      pause: async (ms, deadline) => {
        if (deadline === undefined) return course.push(`pause ${ms}`)
        return isTimePassing ? undefined : new Promise(() => undefined)
      },
    })
  })

  const add = (kind: PartKind, name: string, more: Partial<Part> = {}): void =>
    lifecycle.add({
      name,
      kind,
      start: () => void course.push(`start ${name}`),
      stop: () => void course.push(`stop ${name}`),
      ...more,
    })

  const addAll = (): void => {
    add('store', 'database')
    add('endpoint', 'sockets', { drain: () => void course.push('drain sockets') })
    add('worker', 'reactor')
    add('endpoint', 'http', { drain: () => void course.push('drain http') })
    add('worker', 'scan')
  }

  it('starts parts in their order; endpoints drain, workers stop, endpoints close, stores close', async () => {
    addAll()
    await lifecycle.start()
    expect(course.splice(0)).toEqual(['database', 'sockets', 'reactor', 'http', 'scan'].map((part) => `start ${part}`))
    await lifecycle.stop()
    expect(course).toEqual([
      `pause ${DRAIN_MS}`,
      'drain sockets',
      'drain http',
      ...['scan', 'reactor', 'http', 'sockets', 'database'].map((part) => `stop ${part}`),
    ])
  })

  it('starts and stops once, even if called repeatedly', async () => {
    add('store', 'database')
    await Promise.all([lifecycle.start(), lifecycle.start()])
    await Promise.all([lifecycle.stop(), lifecycle.stop()])
    await lifecycle.stop()
    expect(course).toEqual(['start database', `pause ${DRAIN_MS}`, 'stop database'])
  })

  it('stops parts that ran when they were added, and no part that never started', async () => {
    lifecycle.add({ name: 'mail', kind: 'store', stop: () => void course.push('stop mail') })
    add('worker', 'scan')
    await lifecycle.stop()
    expect(course).toEqual(['stop mail'])
  })

  it('undoes a start that fails half-way, and reports the cause', async () => {
    add('store', 'database')
    add('endpoint', 'http', {
      start: () => {
        throw new Error('port taken')
      },
    })
    add('worker', 'scan')
    await expect(lifecycle.start()).rejects.toThrow('port taken')
    expect(course.splice(0)).toEqual(['start database', 'stop http', 'stop database'])
    await lifecycle.stop()
    expect(course).toEqual([])
  })

  it('a part that fails to stop does not keep the others running, and is reported', async () => {
    add('store', 'database')
    add('worker', 'reactor', { stop: () => Promise.reject(new Error('stuck')) })
    add('worker', 'scan', {
      stop: () => {
        throw new Error('broken')
      },
    })
    await lifecycle.start()
    await expect(lifecycle.stop()).rejects.toMatchObject({ errors: [new Error('broken'), new Error('stuck')] })
    expect(course).toContain('stop database')
  })

  it('a part that hangs has a deadline', async () => {
    add('store', 'database')
    isTimePassing = true
    add('worker', 'reactor', {
      stop: () => new Promise(() => undefined),
    })
    await lifecycle.start()
    await expect(lifecycle.stop()).rejects.toMatchObject({ errors: [{ message: expect.stringContaining('reactor') }] })
    expect(course).toContain('stop database')
  })

  it('a worker that takes long to stop delays no other', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    add('store', 'database')
    for (const name of ['reactor', 'poller']) {
      add('worker', name, {
        stop: () => {
          course.push(`stop ${name}`)
          return promise
        },
      })
    }
    await lifecycle.start()
    course.splice(0)
    const stopped = lifecycle.stop()
    await new Promise(setImmediate)
    expect(course).toEqual([`pause ${DRAIN_MS}`, 'stop poller', 'stop reactor'])
    resolve()
    await stopped
    expect(course.at(-1)).toBe('stop database')
  })

  it('a stop during the start waits until the start is finished', async () => {
    const opened = Promise.withResolvers<void>()
    add('store', 'database', {
      start: async () => {
        await opened.promise
        course.push('started database')
      },
    })
    const starting = lifecycle.start()
    const stopping = lifecycle.stop()
    expect(lifecycle.isStopping).toBe(true)
    opened.resolve()
    await Promise.all([starting, stopping])
    expect(course).toEqual(['started database', `pause ${DRAIN_MS}`, 'stop database'])
  })
})
