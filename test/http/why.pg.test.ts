import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, type InstrumentId, playerId, type PositionId, type UserId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { decimal, lots, price } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { quoteOf } from '../../actors/market/instrument.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { MatchActor } from '../../actors/match/actor.ts'
import type { UserCommand } from '../../actors/match/messages.ts'
import { newMatch } from '../../actors/match/state.ts'
import { setAnchors } from '../../db/anchors.ts'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { SqlLeases } from '../../db/leases.ts'
import { SqlMatchStore } from '../../db/match-store.ts'
import { Positions } from '../../db/positions.ts'
import { PriceMoves } from '../../db/price-moves.ts'
import { seedDistricts } from '../../db/seed.ts'
import { Users } from '../../db/users.ts'
import { timelineOf, WalletCache } from '../../db/wallet-cache.ts'
import { parserOfReplays } from '../../src/compose/replays.ts'
import type { WhyBody } from '../../src/http/account-schemas.ts'
import { instrumentIdFor } from '../../src/provider/instrument-ids.ts'
import { loadRecording } from '../../src/replays/recordings.ts'
import { eachDatabase } from '../support/databases.ts'
import { TestWorld } from '../support/test-world.ts'
import { openHttpRig } from './http-rig.ts'

const MATCH = fixtureId(86_001)
const CAST = 'why'
const FRAME_MS = 10_000
/** When the match is first heard, the position opened and its stop set, in frames before the booking. */
const [HEARS, OPENS, SETS] = [80, 60, 1]

eachDatabase((open) => {
  it('a position of a replay is told what moved it, and which tick and rule closed it', async () => {
    const world = new TestWorld()
    const connection = open()
    const { frames, anchors } = await loadRecording(join(import.meta.dirname, '../../ops/replays/goal-feast.jsonl.br'))
    const starts = Object.entries(anchors).map(
      ([player, units]) =>
        [instrumentIdFor(`replay/${CAST}`, playerId(Number(player))), price(units * 1_000_000)] as const,
    )
    await setAnchors(connection.db, new Map(starts))
    const parse = parserOfReplays(world)
    const snapshots = frames.map((payload) => present(parse(payload, MATCH, CAST), 'frame'))
    const cache = new WalletCache(new FastMemory(world), () => undefined)
    cache.timeline = await timelineOf(connection.db)
    const leases = new SqlLeases(connection.db, { owner: world.newId(), ttlMs: 5_000, alone: true })
    await seedDistricts(connection.db)
    const { user } = present(
      await new Users(connection.db, world).signInSynthetic({ displayName: 'Why', districtId: null }),
      'user',
    )
    const actor = new MatchActor({
      record: newMatch(present(snapshots[0], 'frame'), { replay: true }),
      epoch: present(await leases.acquire(MATCH), 'lease'),
      store: new SqlMatchStore(connection, cache, world),
      world,
      rules: () => DEFAULT_RULES,
      model: () => DEFAULT_MODEL,
      pause: () => Promise.resolve(),
      onCommitted: () => actor.takeUnpublished(),
      onStopped: () => undefined,
    })
    const submit = async (command: UserCommand) => {
      const outcome = await actor.submit(command)
      expect(outcome).toMatchObject({ ok: true })
      if (!outcome.ok) throw new Error('refused')
      return outcome.value.position
    }
    const openNow = (instrumentId: InstrumentId, userId: UserId) =>
      submit({
        kind: 'open_position',
        userId,
        instrumentId,
        direction: 'long',
        lots: lots(100_000),
        clientPrice: quoteOf(present(actor.view.instrument(instrumentId), 'player')).price,
        stopLoss: null,
        takeProfit: null,
        idempotency: null,
      })

    const booking = present(
      snapshots.at(-1)?.events?.find(({ kind, minute }) => kind === 'yellow' && (minute ?? 0) > 15),
      'a booking',
    )
    const shown = snapshots.findIndex(({ events }) => events?.some(({ id }) => id === booking.id) === true)
    const booked = present(
      snapshots[shown]?.players.find((one) => one.playerId === booking.playerId)?.instrumentId,
      'player',
    )
    let held: PositionId | null = null
    let stop = price(1)
    for (const [frame, snapshot] of snapshots.slice(0, shown + 3).entries()) {
      if (frame < shown - HEARS) continue
      world.pass(FRAME_MS)
      await actor.feed({ kind: 'feed_update', seq: frame + 1, snapshot: { ...snapshot, sourceAt: world.now() } })
      if (frame === shown - OPENS) held = (await openNow(booked, user.id)).id
      if (frame !== shown - SETS || held === null) continue
      const { base } = present(actor.view.instrument(booked), 'player')
      stop = price(Math.round((base * 0.9945) / 100) * 100)
      await submit({ kind: 'change_levels', userId: user.id, positionId: held, stopLoss: stop, takeProfit: undefined })
    }

    const positions = new Positions(connection.db)
    const moves = new PriceMoves(connection.db)
    const { asAlice, deps } = await openHttpRig()
    const real = await openHttpRig({
      deps: {
        positions: { ...deps.positions, find: (_, id) => positions.find(user.id, id) },
        history: { ...deps.history, moves: (id, query) => moves.largest(id, query) },
      },
    })
    expect((await asAlice(`/api/positions/${held}/why`)).status).toBe(200)
    const response = await real.asAlice(`/api/positions/${held}/why`)
    expect(response.status).toBe(200)
    const why = (await response.json()) as Why
    expect(why.close).toMatchObject({ by: 'stop_loss', level: decimal(stop) })
    expect(why.close?.tick?.reason.event).toMatchObject({ kind: 'yellow', minute: booking.minute })
    expect(why.close?.sentence).toMatch(
      new RegExp(
        `^Booked in the ${booking.minute}(st|nd|rd|th) minute: −\\d\\.\\d %; your stop at ${decimal(stop).toFixed(2)} was reached\\.$`,
      ),
    )
    expect(why.moves.length).toBeLessThanOrEqual(20)
    expect(why.moves.length).toBeGreaterThan(10)
    expect(why.moves.map(({ at }) => at)).toEqual(why.moves.map(({ at }) => at).toSorted())
    for (const { parts, from, to } of why.moves) {
      expect(parts.event + parts.minutes + parts.statistics + parts.crowd + parts.other).toBeCloseTo(to - from, 6)
      expect(parts.other).toBe(0)
    }
    // The largest of all moves in between, and none before its opening or after its close.
    const all = await moves.largest(booked, {
      after: instant(Date.parse(why.openedAt)),
      until: instant(Date.parse(why.until)),
      limit: 9_000,
    })
    const sizes = (list: readonly { from: number; to: number }[]) => list.map(({ from, to }) => Math.abs(to - from))
    const least = Math.min(...sizes(why.moves)) * 1_000_000
    expect(sizes(all).filter((size) => size > least + 1).length).toBeLessThan(20)
    // The sums by cause add up to all of them, and the booking is the event.
    const { events, play, crowd, other } = why.because
    const moved = all.reduce((sum, { from, to }) => sum + to - from, 0) / 1_000_000
    expect(events.reduce((sum, { amount }) => sum + amount, play + crowd + other)).toBeCloseTo(moved, 5)
    expect(events.map(({ reason }) => reason.event?.kind)).toContain('yellow')
    expect(all.every(({ at }) => at > Date.parse(why.openedAt) && at <= Date.parse(why.until))).toBe(true)
  })
})

type Why = z.output<typeof WhyBody>
