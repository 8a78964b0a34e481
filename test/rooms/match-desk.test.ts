import { afterEach, describe, expect, it, vi } from 'vitest'
import { instrumentId, positionId } from '../../actors/kernel/ids.ts'
import { COMMAND_DEADLINE_MS } from '../../actors/kernel/limits.ts'
import type { Verdict } from '../../actors/match/store.ts'
import { openOrder, closeOrder, MATCH, P, U } from '../support/fixtures.ts'
import { MemoryMatchStore } from '../support/memory-store.ts'
import { codeOf, ok } from '../support/actor-rig.ts'
import { RealtimeRig, until } from './realtime-rig.ts'

let arena: RealtimeRig
afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await arena.close()
})

const keyed = (id: string, fingerprint = 'same') => ({ idempotency: { id, fingerprint } })

/** Full time, confirmed by the provider, and everything closed. */
async function settles(): Promise<void> {
  await arena.plays({ state: 'FINISHED', periods: [] })
  await until('settled', () => arena.desk.view(MATCH)?.info.settledAt !== null)
}

describe('the desk', () => {
  it('finds the match of a command, and wakes it when it sleeps', async () => {
    arena = await RealtimeRig.open()
    arena.grant(1)
    await arena.plays()
    await arena.realTime.stop()
    await arena.boot()
    expect(arena.desk.view(MATCH)).toBeUndefined()
    const { position } = ok(await arena.desk.submit(openOrder()))
    expect(arena.desk.view(MATCH)?.position(position.id)).toEqual(position)
    await arena.realTime.stop()
    await arena.boot()
    expect(codeOf(await arena.desk.submit(closeOrder(position.id)))).toBe('cooldown_active')
  })

  it('what nobody knows, or belongs to another, is not found', async () => {
    arena = await RealtimeRig.open()
    arena.grant(1)
    arena.grant(2)
    await arena.plays()
    const stranger = instrumentId('cccccccc-0000-5000-8000-000000000001')
    expect(await arena.desk.submit(openOrder({ instrumentId: stranger }))).toMatchObject({
      refusal: { code: 'not_found', what: 'instrument' },
    })
    expect(await arena.desk.submit(closeOrder(positionId(stranger)))).toMatchObject({
      refusal: { code: 'not_found', what: 'position' },
    })
    const { position } = ok(await arena.desk.submit(openOrder()))
    expect(codeOf(await arena.desk.submit(closeOrder(position.id, { userId: U(2) })))).toBe('not_found')
    expect(
      codeOf(await arena.desk.quote({ ...openOrder(), instrumentId: stranger, available: null, openPositions: null })),
    ).toBe('not_found')
  })

  it('a match with many callers at once is started once', async () => {
    arena = await RealtimeRig.open()
    await arena.plays()
    await arena.realTime.stop()
    await arena.boot()
    const actors = await Promise.all(Array.from({ length: 20 }, () => arena.desk.activate(MATCH)))
    expect(new Set(actors).size).toBe(1)
    expect(actors[0]?.epoch).toBe(2)
  })

  it('[T27] a settled match takes no trade and is not started again, not even by its feed', async () => {
    arena = await RealtimeRig.open()
    arena.grant(1)
    await arena.plays()
    await settles()
    await arena.realTime.stop()
    await arena.boot()
    expect(codeOf(await arena.desk.submit(openOrder()))).toBe('market_closed')
    expect(await arena.plays()).toBe('dropped')
    expect(await arena.desk.activate(MATCH)).toBeNull()
    expect(arena.desk.view(MATCH)).toBeUndefined()
  })

  it('[A5] a keyed command is answered with its stored result after its match is over', async () => {
    arena = await RealtimeRig.open()
    arena.grant(1)
    await arena.plays()
    const order = openOrder(keyed('a'))
    const { position } = ok(await arena.desk.submit(order))
    await settles()
    await arena.realTime.stop()
    await arena.boot()
    expect(ok(await arena.desk.submit(order))).toMatchObject({ position, repeated: true })
    expect(codeOf(await arena.desk.submit(openOrder(keyed('a', 'other'))))).toBe('key_reused')
    expect(codeOf(await arena.desk.submit(openOrder(keyed('b'))))).toBe('market_closed')
    expect(codeOf(await arena.desk.submit(closeOrder(position.id, keyed('c'))))).toBe('position_not_open')
  })

  it('[Q5] a command that is not answered in time has an unknown outcome', async () => {
    arena = await RealtimeRig.open()
    arena.grant(1)
    await arena.plays()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const stuck = Promise.withResolvers<Verdict>()
    vi.spyOn(arena.store, 'commit').mockReturnValueOnce(stuck.promise)
    const outcome = arena.desk.submit(openOrder())
    await vi.advanceTimersByTimeAsync(COMMAND_DEADLINE_MS)
    expect(codeOf(await outcome)).toBe('unknown_outcome')
    stuck.reject(new Error('too late to matter'))
  })

  it('[A3] a fault of the database rejects, and the next command finds the match loaded anew', async () => {
    arena = await RealtimeRig.open()
    arena.grant(1)
    await arena.plays()
    const acquire = vi.spyOn(arena.store, 'acquire')
    vi.spyOn(arena.store, 'commit').mockRejectedValueOnce(new Error('away'))
    await expect(arena.desk.submit(openOrder())).rejects.toThrow('away')
    await until('it runs anew', () => acquire.mock.calls.length === 1 && arena.desk.view(MATCH) !== undefined)
    ok(await arena.desk.submit(openOrder()))
    expect((await arena.desk.activate(MATCH))?.epoch).toBe(2)
    expect(arena.reports).toHaveLength(1)
  })

  it('[Q3] a match that a fault has stopped runs on without a visitor, and finishes a settlement under way', async () => {
    arena = await RealtimeRig.open()
    arena.grant(1)
    await arena.plays()
    const { position } = ok(await arena.desk.submit(openOrder()))
    const commit = arena.store.commit.bind(arena.store)
    vi.spyOn(arena.store, 'commit').mockImplementationOnce(commit).mockRejectedValueOnce(new Error('away'))
    await arena.plays({ state: 'FINISHED', periods: [] })
    await until('settled', () => arena.store.positions.get(position.id)?.close?.by === 'full_time')
  })

  it('[A7] waiting for a match to wake counts: a command past its deadline by then is refused undone', async () => {
    arena = await RealtimeRig.open()
    arena.grant(1)
    await arena.plays()
    await arena.realTime.stop()
    await arena.boot()
    const load = arena.store.load.bind(arena.store)
    vi.spyOn(arena.store, 'load').mockImplementationOnce((matchId) => {
      arena.world.pass(COMMAND_DEADLINE_MS + 1)
      return load(matchId)
    })
    expect(codeOf(await arena.desk.submit(openOrder()))).toBe('busy')
    expect(arena.store.positions.size).toBe(0)
  })

  it('a match with open positions is taken over as soon as its former owner lets go', async () => {
    const store = new MemoryMatchStore()
    arena = await RealtimeRig.open({ store })
    await arena.plays()
    await arena.realTime.stop()
    await arena.boot()
    const acquire = vi.spyOn(store, 'acquire').mockResolvedValueOnce(null)
    await arena.desk.lookForOrphans()
    expect(arena.desk.view(MATCH)).toBeUndefined()
    await arena.desk.lookForOrphans()
    expect(acquire).toHaveBeenCalledTimes(2)
    await arena.desk.lookForOrphans()
    expect(acquire).toHaveBeenCalledTimes(2)
    expect(arena.desk.view(MATCH)?.instrument(P(1))).toBeDefined()
  })

  it('[A9] what the former owner wrote until the match changed hands is there', async () => {
    const store = new MemoryMatchStore()
    arena = await RealtimeRig.open({ store })
    const user = arena.grant(1)
    await arena.plays()
    await arena.realTime.stop()
    await arena.boot()
    // The last look before the lease is taken shows the match as it was; then the former owner commits once more.
    const before = await store.load(MATCH)
    const { position } = ok(await arena.desk.submit(openOrder()))
    await arena.realTime.stop()
    await arena.boot()
    vi.spyOn(store, 'load').mockResolvedValueOnce(before)
    expect((await arena.desk.activate(MATCH))?.view.position(position.id)?.userId).toBe(user)
  })

  it('once stopped it starts nothing and carries out nothing', async () => {
    arena = await RealtimeRig.open()
    arena.grant(1)
    await arena.plays()
    await arena.realTime.stop()
    expect(codeOf(await arena.desk.submit(openOrder()))).toBe('busy')
    expect(await arena.plays()).toBe('elsewhere')
    expect(await arena.desk.activate(MATCH)).toBeNull()
    await arena.boot()
  })

  it('stopping lets a match finish what it has, and gives its lease back', async () => {
    const store = new MemoryMatchStore()
    const release = vi.spyOn(store, 'release')
    arena = await RealtimeRig.open({ store })
    arena.grant(1)
    await arena.plays()
    const outcome = arena.desk.submit(openOrder())
    await arena.desk.activate(MATCH)
    await Promise.resolve()
    await arena.realTime.stop()
    expect(codeOf(await outcome)).toBe('ok')
    expect(release).toHaveBeenCalledWith(MATCH, 1)
    await arena.boot()
  })
})
