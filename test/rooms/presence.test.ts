import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Bus } from '../../rooms/cluster/bus.ts'
import { type OtherProcess, Presence, type Registry } from '../../rooms/cluster/presence.ts'
import { type ClusterBus, PROTOCOL } from '../../rooms/cluster/protocol.ts'
import { type MemoryEnd, MemoryNetwork } from '../support/pub-sub-memory.ts'
import { TestWorld } from '../support/test-world.ts'

const STEP_MS = 250

/** The processes as the database shows them. */
class Records {
  readonly hearing = new Map<string, OtherProcess>()
  readonly owners = new Set<string>()
  readonly missedBy = new Map<string, Set<string>>()

  of(id: string, runsMatches: boolean): Registry {
    return {
      seen: async (hears) => {
        if (hears) this.hearing.set(id, { id, runsMatches })
        else this.hearing.delete(id)
        return [...this.hearing.values()].filter((other) => other.id !== id).toSorted((a, b) => (a.id < b.id ? -1 : 1))
      },
      missed: async (gone, witnesses) => {
        const by = this.missedBy.get(gone) ?? new Set()
        this.missedBy.set(gone, by.add(id))
        return { witnesses: by.size, matches: by.size >= witnesses && this.owners.delete(gone) ? ['a match'] : [] }
      },
      left: async () => void this.hearing.delete(id),
    }
  }
}

class Process {
  readonly end: MemoryEnd
  readonly bus: ClusterBus
  readonly presence: Presence
  readonly did: string[] = []
  alive = true

  constructor(rig: Rig, name: string, runsMatches: boolean) {
    this.end = rig.network.end()
    vi.spyOn(this.end, 'reconnect').mockImplementation(() => void this.did.push('reconnect'))
    this.bus = new Bus({ pubSub: this.end, processId: name, protocol: PROTOCOL, report: () => undefined })
    const matches = {
      giveBack: async () => void this.did.push('give back'),
      resume: () => undefined,
      lookForOrphans: async () => void this.did.push('look'),
    }
    const registry = rig.records.of(name, runsMatches)
    const report = (event: string) => void this.did.push(event)
    this.presence = new Presence({ pubSub: this.end, bus: this.bus, registry, matches, world: rig.world, report })
  }

  /** As after SIGKILL. */
  async kill(): Promise<void> {
    this.alive = false
    await this.presence.close()
    await this.end.close()
  }
}

class Rig {
  readonly network = new MemoryNetwork()
  readonly records = new Records()
  readonly world = new TestWorld()
  readonly processes: Process[] = []

  async process(name: string, { runsMatches = true } = {}): Promise<Process> {
    const process = new Process(this, name, runsMatches)
    this.processes.push(process)
    this.records.owners.add(name)
    await process.bus.open()
    await process.presence.open()
    return process
  }

  /** Lets time pass; each process looks once a second. */
  async pass(ms: number): Promise<void> {
    for (let passed = STEP_MS; passed <= ms; passed += STEP_MS) {
      this.world.pass(STEP_MS)
      vi.advanceTimersByTime(STEP_MS)
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
      if (passed % 1_000 !== 0) continue
      for (const { alive, presence } of this.processes) if (alive) await presence.look()
    }
  }
}

let rig: Rig
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
  rig = new Rig()
})
afterEach(async () => {
  await Promise.all(rig.processes.map(({ presence }) => presence.close()))
  vi.useRealTimers()
})

it('[Q18] a process that does not hear itself reconnects, and after eight seconds gives its matches to those that hear', async () => {
  const [deaf, other] = [await rig.process('deaf'), await rig.process('other')]
  await rig.pass(3_000)
  expect([deaf.did, other.did]).toEqual([[], []])
  deaf.end.cut()
  // Its owner lives: the other process alone cannot have it missed while its leases run.
  rig.records.owners.delete('deaf')
  await rig.pass(5_000)
  expect(deaf.did).toEqual(['reconnect'])
  expect(deaf.presence.isCutOff).toBe(false)
  await rig.pass(5_000)
  expect(deaf.did).toContain('give back')
  expect(deaf.presence.isCutOff).toBe(true)
  expect(other.did).not.toContain('process_gone')
  deaf.end.mend()
  await rig.pass(2_000)
  expect(deaf.presence.isCutOff).toBe(false)
})

it('[Q18] where nobody hears, all keep their matches', async () => {
  const both = [await rig.process('one'), await rig.process('two')]
  await rig.pass(3_000)
  for (const { end } of both) end.cut()
  await rig.pass(20_000)
  for (const { did, presence } of both) {
    expect(did).not.toContain('give back')
    expect(presence.isCutOff).toBe(false)
  }
})

it('[Q18] where all hear again, those that reconnect last keep their matches', async () => {
  const [first, last, lost] = [await rig.process('first'), await rig.process('last'), await rig.process('lost')]
  await rig.pass(3_000)
  for (const { end } of rig.processes) end.cut()
  await rig.pass(10_000)
  first.end.mend()
  await rig.pass(4_000)
  last.end.mend()
  await rig.pass(3_000)
  expect([first, last, lost].map(({ did }) => did.includes('give back'))).toEqual([false, false, true])
})

it('[Q19] the matches of a killed process wait for another as soon as two processes miss it', async () => {
  const [victim, ...others] = [
    await rig.process('2'),
    await rig.process('1'),
    await rig.process('3'),
    await rig.process('api', { runsMatches: false }),
  ]
  await rig.pass(4_000)
  await victim.kill()
  await rig.pass(750)
  expect(rig.records.owners).not.toContain('2')
  expect(others.flatMap(({ did }) => did).filter((what) => what === 'process_gone')).toHaveLength(1)
  for (const { did } of others) expect(did).toContain('look')
})

it('[Q19] of many processes that die at once all are missed at once, even if those that watch them are among them', async () => {
  const names = ['1', '2', '3', '4', '5', '6', '7', '8'] as const
  const all = await Promise.all(names.map((name) => rig.process(name)))
  await rig.pass(4_000)
  for (const dying of all.slice(1, 7)) await dying.kill()
  await rig.pass(1_000)
  expect([...rig.records.owners]).toEqual(['1', '8'])
})

it('[Q19] a process that is alone with the dead one waits a second', async () => {
  const [victim, survivor] = [await rig.process('1'), await rig.process('2')]
  await rig.pass(4_000)
  await victim.kill()
  await rig.pass(750)
  expect(rig.records.owners).toContain('1')
  await rig.pass(1_000)
  expect(rig.records.owners).not.toContain('1')
  expect(survivor.did).toContain('look')
})

it('[Q19] no process is missed by one that has just lost its own connection, or whose question is not answered', async () => {
  const [gone, one, two] = [await rig.process('1'), await rig.process('2'), await rig.process('3')]
  await rig.pass(4_000)
  gone.end.cut()
  for (const { end } of [one, two]) end.mend() // they were cut too, and are back a moment sooner
  await rig.pass(1_500)
  gone.end.mend()
  await rig.pass(5_000)
  expect(rig.records.owners).toContain('1')

  // Nothing can be said of the others by a process that cannot send.
  one.end.cut()
  two.end.cut()
  await rig.pass(3_000)
  expect(rig.records.owners).toContain('1')
})
