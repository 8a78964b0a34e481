import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Task, TaskRunner } from '../../src/compose/task-runner.ts'
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

  it('checks the ledger only where metrics are read', () => {
    const rolesOf = (tasks: readonly Task[]) => tasks.find(({ name }) => name === 'ledger-check')?.roles
    expect(rolesOf(table())).toEqual(['rooms'])
    expect(rolesOf(table({ METRICS: 'off' }))).toEqual([])
  })
})

describe('a task', () => {
  let lines: { readonly event: string; readonly task: string }[]
  let failures: string[]
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
        onFailure: (task) => failures.push(task),
      },
    ))

  beforeEach(() => {
    vi.useFakeTimers()
    lines = []
    failures = []
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
    expect(failures).toEqual(Array(3).fill('orphan-scan'))
    work = () => undefined
    await vi.advanceTimersByTimeAsync(300)
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
    slow.resolve()
    await runner.stop()
    work = () => Promise.reject(new Error('no recording'))
    await expect(create({ atStart: 'await' }).start()).rejects.toThrow('no recording')
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
