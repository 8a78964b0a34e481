import { afterEach, describe, expect, it } from 'vitest'
import { type FixtureId, fixtureId } from '../../actors/kernel/ids.ts'
import { done, refused } from '../../actors/kernel/outcome.ts'
import type { FeedUpdate } from '../../actors/match/messages.ts'
import { Bus } from '../../rooms/cluster/bus.ts'
import { type Host, Peers } from '../../rooms/cluster/peers.ts'
import {
  type Activity,
  type AnswerOf,
  type ClusterBus,
  type Fed,
  type MatchKind,
  PROTOCOL,
  type RequestOf,
} from '../../rooms/cluster/protocol.ts'
import { answerOr, handling } from '../../rooms/match/match-requests.ts'
import { openOrder, P, p, snapshot, trade } from '../support/fixtures.ts'
import { type MemoryEnd, MemoryNetwork } from '../support/pub-sub-memory.ts'
import { TestWorld } from '../support/test-world.ts'

const MATCH = fixtureId(7)
const accepted = done(trade())
const MOVES = [{ instrumentId: P(1), name: 'A. Striker', from: p(200), to: p(205) }]

/** A process with given answers, which notes its requests. */
class Process implements Host {
  readonly runs = new Set<FixtureId>()
  readonly asked: string[] = []
  size = 0
  wakesAs: Activity = 'active'
  /** By kind. */
  readonly answers: { [K in MatchKind]: (request: RequestOf<K>) => Promise<AnswerOf<K>> } = {
    command: async () => accepted,
    quote: async () => refused({ code: 'key_reused' }),
    effect: async ({ matchId }) => ({ matchId, known: true, moves: MOVES, closes: 3 }),
    end: async () => 'ending',
    void: async () => 'voided',
  }
  readonly end: MemoryEnd
  readonly bus: ClusterBus
  readonly peers: Peers

  constructor(installation: Installation, name: string) {
    this.end = installation.network.end()
    this.bus = new Bus({ pubSub: this.end, processId: name, protocol: PROTOCOL, report: () => undefined })
    this.peers = new Peers({ bus: this.bus, ownership: installation, world: installation.world })
  }

  async open(runsMatches: boolean): Promise<this> {
    await this.bus.open()
    if (runsMatches) await this.peers.open(this)
    return this
  }

  answerHere<K extends MatchKind>(kind: K, request: RequestOf<K>) {
    this.asked.push('leftMs' in request ? `${kind} within ${request.leftMs}` : kind)
    return this.runs.has(request.matchId) ? this.answers[kind](request) : undefined
  }

  async feedHere({ seq }: FeedUpdate): Promise<Fed> {
    this.asked.push(`feed ${seq}`)
    return this.wakesAs === 'elsewhere' ? 'elsewhere' : 'applied'
  }

  async activityHere(matchId: FixtureId): Promise<Activity> {
    this.asked.push('wake')
    if (this.wakesAs === 'active') this.runs.add(matchId)
    return this.wakesAs
  }
}

/** Processes on one network, and the owner of the match. */
class Installation {
  readonly network = new MemoryNetwork()
  readonly world = new TestWorld()
  readonly #processes: Process[] = []
  owner: string | null = null

  async process(name: string, { runsMatches = true } = {}): Promise<Process> {
    const process = await new Process(this, name).open(runsMatches)
    this.#processes.push(process)
    return process
  }

  /** One that asks, and one that runs matches, which owns this one where `owns`. */
  async pair({ owns = false } = {}) {
    const [here, there] = [await this.process('here', { runsMatches: false }), await this.process('there')] as const
    if (owns) {
      this.owner = 'there'
      there.runs.add(MATCH)
    }
    return [here, there] as const
  }

  async ownerOf(): Promise<string | null> {
    return this.owner
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map(({ bus }) => bus.close()))
  }
}

let installation = new Installation()
afterEach(async () => {
  await installation.close()
  installation = new Installation()
})

/** What the desk makes of the answer of a peer. */
const ask = async <K extends MatchKind>({ peers }: Process, kind: K, request: RequestOf<K>): Promise<AnswerOf<K>> =>
  answerOr(kind, request, await peers.ask(kind, request, handling(kind).withinMs(request)))

const submit = (process: Process, leftMs = 2_000) =>
  ask(process, 'command', { matchId: MATCH, command: openOrder(), leftMs })

describe('peers', () => {
  it('[Q4] a command is carried out by the owner of the lease, in what is left of its time', async () => {
    const [here, there] = await installation.pair({ owns: true })
    expect(await submit(here, 1_500)).toEqual(accepted)
    expect(there.asked).toEqual(['command within 1500'])
    expect(await ask(here, 'quote', { matchId: MATCH, query: { ...openOrder(), means: {} } })).toEqual(
      refused({ code: 'key_reused' }),
    )
  })

  it('[H17] what a setting would move is asked of the owner of the match; one that cannot be reached is not known', async () => {
    const [here, there] = await installation.pair({ owns: true })
    const setting = { key: 'trading.impact_cap_pct', value: 1 }
    expect(await ask(here, 'effect', { matchId: MATCH, setting })).toEqual({
      matchId: MATCH,
      known: true,
      moves: MOVES,
      closes: 3,
    })
    installation.owner = 'dead'
    await there.bus.close()
    expect(await ask(here, 'effect', { matchId: fixtureId(8), setting })).toMatchObject({
      matchId: 8,
      known: false,
      moves: [],
    })
  })

  it('[Q5] an owner that is gone, although its lease runs, has done nothing: busy at once', async () => {
    const here = await installation.process('here', { runsMatches: false })
    installation.owner = 'dead'
    expect(await submit(here, 3_600_000)).toEqual(refused({ code: 'busy', retryAfterSecs: 1 }))
  })

  it('[Q5] a silent owner leaves the outcome unknown', async () => {
    const [here, there] = await installation.pair({ owns: true })
    there.answers.command = () => new Promise(() => undefined)
    expect(await submit(here, 1)).toMatchObject({ refusal: { code: 'unknown_outcome' } })
  })

  it('a remembered owner that no longer runs the match is asked only once', async () => {
    const [here, there] = await installation.pair({ owns: true })
    const next = await installation.process('next')
    await submit(here)
    there.runs.delete(MATCH)
    installation.owner = 'next'
    next.runs.add(MATCH)
    expect(await submit(here)).toEqual(accepted)
    expect(await submit(here)).toEqual(accepted)
    expect([there.asked.length, next.asked.length]).toEqual([2, 2])
  })

  it('[Q12] during a handover a command waits for the next owner, and is carried out once', async () => {
    const [here, there] = await installation.pair()
    const next = await installation.process('next')
    installation.owner = 'there'
    there.wakesAs = 'elsewhere'
    const outcome = submit(here)
    await expect.poll(() => there.asked.length).toBeGreaterThan(2)
    installation.owner = null
    expect(await outcome).toEqual(accepted)
    expect(next.asked.filter((what) => what.startsWith('command'))).toHaveLength(1)
  })

  it('[Q12] if a handover never ends, the command is refused as busy: nothing has happened', async () => {
    const [here] = await installation.pair()
    installation.owner = 'there'
    expect(await submit(here)).toEqual(refused({ code: 'busy', retryAfterSecs: 1 }))
  })

  it('a match without an owner is activated by the process with the fewest matches', async () => {
    const [here, few] = [await installation.process('here', { runsMatches: false }), await installation.process('few')]
    const many = await installation.process('many')
    many.size = 10
    few.answers.command = async () => {
      many.wakesAs = 'elsewhere' // its lease is taken by now
      return accepted
    }
    expect(await submit(here)).toEqual(accepted)
    expect(few.runs).toEqual(new Set([MATCH]))
  })

  it('a command for an unknown, settled or unreachable match is refused as such', async () => {
    const [here, there] = await installation.pair()
    there.wakesAs = 'unknown'
    expect(await submit(here)).toEqual(refused({ code: 'not_found', what: 'instrument' }))
    there.wakesAs = 'settled'
    expect(await submit(here)).toMatchObject({ refusal: { code: 'market_closed' } })
    await there.bus.close()
    expect(await submit(here)).toMatchObject({ refusal: { code: 'busy' } })
  })

  it('a feed update goes to the owner, or to the process that takes the match', async () => {
    const [here, there] = await installation.pair()
    const offer = (seq: number) => here.peers.offer({ kind: 'feed_update', seq, snapshot: snapshot() })
    expect(await offer(1)).toBe('applied')
    installation.owner = 'there'
    expect(await offer(2)).toBe('applied')
    expect(there.asked).toEqual(['feed 1', 'feed 2'])
    there.wakesAs = 'elsewhere'
    expect(await offer(3)).toBe('elsewhere')
    installation.owner = 'dead'
    expect(await offer(4)).toBe('elsewhere')
  })

  it('an operator ends a match where it runs, after waking one that nobody runs', async () => {
    const [here, there] = await installation.pair()
    expect(await ask(here, 'end', { matchId: MATCH, ending: 'void' })).toBe('ending')
    expect(there.asked).toEqual(['wake', 'end'])
    there.runs.delete(MATCH)
    there.wakesAs = 'settled'
    expect(await ask(here, 'end', { matchId: MATCH, ending: 'void' })).toBe('over')
    there.wakesAs = 'unknown'
    expect(await ask(here, 'end', { matchId: MATCH, ending: 'void' })).toBe('unknown')
    installation.owner = 'dead'
    expect(await ask(here, 'end', { matchId: MATCH, ending: 'void' })).toBe('elsewhere')
  })
})
