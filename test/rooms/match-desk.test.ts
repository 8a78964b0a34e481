import { afterEach, describe, expect, it, vi } from 'vitest'
import { fixtureId, instrumentId, positionId } from '../../actors/kernel/ids.ts'
import { COMMAND_DEADLINE_MS } from '../../actors/kernel/limits.ts'
import type { Verdict } from '../../actors/match/store.ts'
import { openOrder, closeOrder, MATCH, P, U } from '../support/fixtures.ts'
import { MemoryMatchStore } from '../support/memory-store.ts'
import { codeOf, ok } from '../support/actor-rig.ts'
import { RealtimeRig, until } from './realtime-rig.ts'

let rig: RealtimeRig
afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await rig.close()
})

const keyed = (id: string, fingerprint = 'same') => ({ idempotency: { id, fingerprint } })

/** Full time, confirmed by the provider, and everything closed. */
async function settles(): Promise<void> {
  await rig.plays({ state: 'FINISHED', periods: [] })
  await until('settled', () => rig.desk.view(MATCH)?.info.settledAt !== null)
}

describe('the desk', () => {
  it('finds the match of a command, and activates it if it does not run', async () => {
    rig = await RealtimeRig.playing()
    await rig.restart()
    expect(rig.desk.view(MATCH)).toBeUndefined()
    const { position } = ok(await rig.desk.submit(openOrder()))
    expect(rig.desk.view(MATCH)?.position(position.id)).toEqual(position)
    await rig.restart()
    expect(codeOf(await rig.desk.submit(closeOrder(position.id)))).toBe('cooldown_active')
  })

  it('answers not_found for unknown ids and other users’ positions', async () => {
    rig = await RealtimeRig.playing({ users: 2 })
    const stranger = instrumentId('cccccccc-0000-5000-8000-000000000001')
    expect(await rig.desk.submit(openOrder({ instrumentId: stranger }))).toMatchObject({
      refusal: { code: 'not_found', what: 'instrument' },
    })
    expect(await rig.desk.submit(closeOrder(positionId(stranger)))).toMatchObject({
      refusal: { code: 'not_found', what: 'position' },
    })
    const { position } = ok(await rig.desk.submit(openOrder()))
    expect(codeOf(await rig.desk.submit(closeOrder(position.id, { userId: U(2) })))).toBe('not_found')
    expect(codeOf(await rig.desk.quote({ ...openOrder(), instrumentId: stranger, means: {} }))).toBe('not_found')
  })

  it('starts a match once, however many callers ask for it', async () => {
    rig = await RealtimeRig.playing()
    await rig.restart()
    const actors = await Promise.all(Array.from({ length: 20 }, () => rig.desk.activate(MATCH)))
    expect(new Set(actors).size).toBe(1)
    expect(actors[0]?.epoch).toBe(2)
  })

  it('[T27] a settled match takes no trade and is not started again, not even by its feed', async () => {
    rig = await RealtimeRig.playing()
    await settles()
    await rig.restart()
    expect(codeOf(await rig.desk.submit(openOrder()))).toBe('market_closed')
    expect(await rig.plays()).toBe('dropped')
    expect(await rig.desk.activate(MATCH)).toBeNull()
    expect(rig.desk.view(MATCH)).toBeUndefined()
  })

  it('[Q13] a match kicks off in the process that hears of it, while the others cannot be asked', async () => {
    const isAway = async (): Promise<never> => {
      throw new Error('Redis is away')
    }
    const done = async (): Promise<void> => undefined
    const pubSub = {
      publish: isAway,
      send: isAway,
      subscribe: done,
      unsubscribe: done,
      onGap: () => undefined,
      reconnect: () => undefined,
      close: done,
    }
    const registry = { seen: async () => [], missed: async () => ({ witnesses: 0, matches: [] }), left: done }
    rig = await RealtimeRig.playing({ cluster: { pubSub, registry, processId: 'here' } })
    expect(rig.desk.view(MATCH)?.info.feedSeq).toBe(1)
    expect(ok(await rig.desk.submit(openOrder())).position.close).toBeNull()
  })

  it.each(['the same', 'the next'])(
    '[V10] a fixture that comes back is played again, though its feed counts from 1, in %s process',
    async (process) => {
      rig = await RealtimeRig.playing()
      await rig.plays()
      for (const _ of [1, 2]) await rig.plays({ state: 'POSTPONED', stateId: 10, periods: [] })
      await until('void', () => rig.desk.view(MATCH)?.info.settledAt !== null)
      if (process === 'the next') await rig.restart()
      rig.countsAnew()
      expect(await rig.plays({ state: 'NS', stateId: 1, periods: [] })).toBe('applied')
      expect(rig.desk.view(MATCH)?.info).toMatchObject({ settling: null, settledAt: null })
    },
  )

  it.each(['full_time', 'void'] as const)(
    '[H16] an operator ends a match at the first call, however fast its feed is: %s',
    async (ending) => {
      rig = await RealtimeRig.playing()
      const { position } = ok(await rig.desk.submit(openOrder()))
      // A feed that never waits: an update is always in the mailbox or on its way there.
      let isOver = false
      const feeds = Array.from({ length: 20 }, async () => {
        while (!isOver) await rig.plays()
      })
      expect(await rig.desk.ask('end', { matchId: MATCH, ending })).toBe('ending')
      expect(await rig.desk.ask('end', { matchId: MATCH, ending })).toBe('over')
      expect(await rig.plays()).toBe('dropped')
      isOver = true
      await Promise.all(feeds)
      await until('settled', () => rig.desk.view(MATCH)?.info.settledAt !== null)
      expect(rig.desk.view(MATCH)?.position(position.id)).toBeUndefined()
      expect(await rig.desk.ask('end', { matchId: MATCH, ending })).toBe('over')
      await rig.restart()
      expect(await rig.desk.ask('end', { matchId: MATCH, ending })).toBe('over')
      expect(await rig.desk.ask('end', { matchId: fixtureId(99), ending })).toBe('unknown')
    },
  )

  it('[A5] a keyed command is answered with its stored result after its match is over', async () => {
    rig = await RealtimeRig.playing()
    const order = openOrder(keyed('a'))
    const { position } = ok(await rig.desk.submit(order))
    await settles()
    await rig.restart()
    expect(ok(await rig.desk.submit(order))).toMatchObject({ position, repeated: true })
    expect(codeOf(await rig.desk.submit(openOrder(keyed('a', 'other'))))).toBe('key_reused')
    expect(codeOf(await rig.desk.submit(openOrder(keyed('b'))))).toBe('market_closed')
    expect(codeOf(await rig.desk.submit(closeOrder(position.id, keyed('c'))))).toBe('position_not_open')
  })

  it('[Q5] a command that is not answered in time has an unknown outcome', async () => {
    rig = await RealtimeRig.playing()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const stuck = Promise.withResolvers<Verdict>()
    vi.spyOn(rig.store, 'commit').mockReturnValueOnce(stuck.promise)
    const outcome = rig.desk.submit(openOrder())
    await vi.advanceTimersByTimeAsync(COMMAND_DEADLINE_MS)
    expect(codeOf(await outcome)).toBe('unknown_outcome')
    stuck.reject(new Error('too late to matter'))
  })

  it('[A3] a fault of the database rejects, and the next command finds the match reloaded', async () => {
    rig = await RealtimeRig.playing()
    const acquire = vi.spyOn(rig.store, 'acquire')
    vi.spyOn(rig.store, 'commit').mockRejectedValueOnce(new Error('away'))
    await expect(rig.desk.submit(openOrder())).rejects.toThrow('away')
    await until('it runs again', () => acquire.mock.calls.length === 1 && rig.desk.view(MATCH) !== undefined)
    ok(await rig.desk.submit(openOrder()))
    expect((await rig.desk.activate(MATCH))?.epoch).toBe(2)
    expect(rig.reports).toHaveLength(1)
  })

  it('[Q3] a match stopped by a fault is started again without a command, and finishes its settlement', async () => {
    rig = await RealtimeRig.playing()
    const { position } = ok(await rig.desk.submit(openOrder()))
    const commit = rig.store.commit.bind(rig.store)
    vi.spyOn(rig.store, 'commit').mockImplementationOnce(commit).mockRejectedValueOnce(new Error('away'))
    await rig.plays({ state: 'FINISHED', periods: [] })
    await until('settled', () => rig.store.positions.get(position.id)?.close?.by === 'full_time')
  })

  it('[A7] the wait for activation counts: a command past its deadline by then is refused', async () => {
    rig = await RealtimeRig.playing()
    await rig.restart()
    const load = rig.store.load.bind(rig.store)
    vi.spyOn(rig.store, 'load').mockImplementationOnce((matchId) => {
      rig.world.pass(COMMAND_DEADLINE_MS + 1)
      return load(matchId)
    })
    expect(codeOf(await rig.desk.submit(openOrder()))).toBe('busy')
    expect(rig.store.positions.size).toBe(0)
  })

  it('a match with open positions is taken over as soon as its lease is released', async () => {
    const store = new MemoryMatchStore()
    rig = await RealtimeRig.playing({ store })
    await rig.restart()
    const acquire = vi.spyOn(store, 'acquire').mockResolvedValueOnce(null)
    await rig.desk.lookForOrphans()
    expect(rig.desk.view(MATCH)).toBeUndefined()
    await rig.desk.lookForOrphans()
    expect(acquire).toHaveBeenCalledTimes(2)
    await rig.desk.lookForOrphans()
    expect(acquire).toHaveBeenCalledTimes(2)
    expect(rig.desk.view(MATCH)?.instrument(P(1))).toBeDefined()
  })

  it('[A9] everything the former owner committed before the handover is there', async () => {
    const store = new MemoryMatchStore()
    rig = await RealtimeRig.open({ store })
    const user = rig.grant(1)
    await rig.plays()
    await rig.restart()
    // The last look before the lease is taken shows the match as it was; then the former owner commits once more.
    const before = await store.load(MATCH)
    const { position } = ok(await rig.desk.submit(openOrder()))
    await rig.restart()
    vi.spyOn(store, 'load').mockResolvedValueOnce(before)
    expect((await rig.desk.activate(MATCH))?.view.position(position.id)?.userId).toBe(user)
  })

  it('after stop it starts no match and carries out no command', async () => {
    rig = await RealtimeRig.playing()
    await rig.realTime.stop()
    expect(codeOf(await rig.desk.submit(openOrder()))).toBe('busy')
    expect(await rig.plays()).toBe('elsewhere')
    expect(await rig.desk.activate(MATCH)).toBeNull()
    await rig.boot()
  })

  it('stopping lets a match finish what it has, and releases its lease', async () => {
    const store = new MemoryMatchStore()
    const release = vi.spyOn(store, 'release')
    rig = await RealtimeRig.playing({ store })
    const outcome = rig.desk.submit(openOrder())
    await rig.desk.activate(MATCH)
    await Promise.resolve()
    await rig.realTime.stop()
    expect(codeOf(await outcome)).toBe('ok')
    expect(release).toHaveBeenCalledWith(MATCH, 1)
    await rig.boot()
  })
})
