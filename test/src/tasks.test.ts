import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { EVERYWHERE, type Task, TaskRunner } from '../../src/compose/task-runner.ts'
import { databaseTasks, ledgerTasks } from '../../src/compose/storage-tasks.ts'
import { matchTasks, visitorTasks } from '../../src/compose/tasks.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/observe/log.ts'
import { TestWorld } from '../support/test-world.ts'

const log = createLog({ level: 'silent', world: new TestWorld() })

describe('the tables of tasks', () => {
  const table = (env: Readonly<Record<string, string>> = {}) => {
    const nothing = { world: new TestWorld(), stores: { connection: {} }, accounts: {}, market: {}, realTime: {} }
    const [host, none] = [{ ...nothing, config: readConfig(env), log } as never, {} as never]
    return [
      ...databaseTasks(host, none),
      ...ledgerTasks(host),
      ...visitorTasks(host, none),
      ...matchTasks(host, none, none),
    ]
  }
  const isPrime = (n: number) =>
    Array.from({ length: Math.floor(Math.sqrt(n)) - 1 }, (_, i) => n % (i + 2)).every(Boolean)

  it('gives each task a name and a period of its own; periods are primes', () => {
    const tasks = table()
    expect(new Set(tasks.map(({ name }) => name)).size).toBe(tasks.length)
    expect(new Set(tasks.map(({ everyMs }) => everyMs)).size).toBe(tasks.length)
    expect(tasks.filter(({ everyMs }) => !isPrime(everyMs))).toEqual([])
    expect(tasks.filter(({ name }) => !/^[a-z]+-[a-z]+$|^[a-z]+$/.test(name))).toEqual([])
  })

  it('checks the ledger and the work left in every process, whose page and metrics say what was found', () => {
    for (const env of [{}, { METRICS: 'off' }])
      for (const its of ['ledger-check', 'work-left'])
        expect(table(env).find(({ name }) => name === its)?.roles, its).toEqual(EVERYWHERE)
  })
})

describe('a task', () => {
  let lines: { readonly event: string; readonly task: string }[]
  let world: TestWorld
  let runs: number
  let work: () => Promise<void> | void
  let runner: TaskRunner

  const create = (more: Partial<Task> = {}): TaskRunner =>
    (runner = new TaskRunner(
      {
        name: 'orphan-scan',
        everyMs: 100,
        roles: ['rooms'],
        run: () => {
          runs++
          return work()
        },
        ...more,
      },
      {
        log: createLog({
          level: 'info',
          world: new TestWorld(),
          readable: false,
          write: (line) => lines.push(JSON.parse(line)),
        }),
        clock: world.steady,
      },
    ))

  beforeEach(() => {
    vi.useFakeTimers()
    lines = []
    world = new TestWorld()
    runs = 0
    work = () => undefined
  })
  afterEach(async () => {
    await runner.stop()
    vi.useRealTimers()
  })

  it('runs once per period, never two runs at a time', async () => {
    await create().start()
    await vi.advanceTimersByTimeAsync(99)
    expect(runs).toBe(0)
    await vi.advanceTimersByTimeAsync(101)
    expect(runs).toBe(2)
    const slow = Promise.withResolvers<void>()
    work = () => slow.promise
    await vi.advanceTimersByTimeAsync(500)
    expect(runs).toBe(3)
    slow.resolve()
    await vi.advanceTimersByTimeAsync(100)
    expect(runs).toBe(4)
  })

  it('logs the first failure and the recovery; counts every failure', async () => {
    await create().start()
    work = () => {
      throw new Error('no database')
    }
    await vi.advanceTimersByTimeAsync(300)
    expect(runner.state).toMatchObject({ name: 'orphan-scan', failures: 3, failuresInARow: 3 })
    work = () => undefined
    await vi.advanceTimersByTimeAsync(300)
    expect(runner.state).toMatchObject({ failures: 3, failuresInARow: 0 })
    expect(lines).toMatchObject([
      { event: 'task_failed', task: 'orphan-scan', error: { message: 'no database' } },
      { event: 'task_recovered', task: 'orphan-scan' },
    ])
  })

  it('runs at the start if declared so; the start waits for it, or continues', async () => {
    const slow = Promise.withResolvers<void>()
    work = () => slow.promise
    await create({ atStart: 'begin' }).start()
    expect(runs).toBe(1)
    let isStarted = false
    const starting = create({ atStart: 'await' })
      .start()
      .then(() => (isStarted = true))
    await vi.advanceTimersByTimeAsync(500)
    expect([runs, isStarted], 'one run at a time').toEqual([2, false])
    slow.resolve()
    await starting
  })

  it('does not keep the process from starting when its first run fails, which is logged and counted', async () => {
    work = () => Promise.reject(new Error('no recording'))
    await create({ atStart: 'await' }).start()
    expect(runner.state).toMatchObject({ failures: 1 })
    expect(lines).toMatchObject([{ event: 'task_failed', error: { message: 'no recording' } }])
    work = () => undefined
    await vi.advanceTimersByTimeAsync(100)
    expect(lines).toMatchObject([{}, { event: 'task_recovered' }])
  })

  it('logs an error at its tenth failure in a row', async () => {
    await create().start()
    work = () => {
      throw new Error('no database')
    }
    await vi.advanceTimersByTimeAsync(2_000)
    expect(runner.state.failures).toBe(20)
    expect(lines).toMatchObject([
      { level: 'warn', event: 'task_failed' },
      { level: 'error', event: 'task_failed', task: 'orphan-scan', inARow: 10, error: { message: 'no database' } },
    ])
  })

  it('says how long the run under way has taken', async () => {
    const slow = Promise.withResolvers<void>()
    work = () => slow.promise
    await create({ atStart: 'begin' }).start()
    world.pass(301_000)
    expect(runner.state.runningMs).toBe(301_000)
    slow.resolve()
    await runner.stop()
    expect(runner.state.runningMs).toBe(0)
  })

  it('stops after the run in progress', async () => {
    const slow = Promise.withResolvers<void>()
    work = () => slow.promise
    await create({ atStart: 'begin' }).start()
    let isStopped = false
    const stopping = runner.stop().then(() => (isStopped = true))
    await vi.advanceTimersByTimeAsync(500)
    expect([runs, isStopped]).toEqual([1, false])
    slow.resolve()
    await stopping
  })
})
