import { matchMaker } from '@colyseus/core'
import { afterEach, describe, expect, it } from 'vitest'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import { FRAME_MS, type Recording } from '../../actors/replay/recording.ts'
import type { ReplayStatus } from '../../rooms/sources/replay-player.ts'
import { replayRoomId } from '../../rooms/sources/replay-room.ts'
import { half, MATCH } from '../support/fixtures.ts'
import { RealtimeRig, until } from './realtime-rig.ts'

let rig: RealtimeRig
afterEach(() => rig.close())

const SPEED = 120
const INTERVAL_MS = FRAME_MS / SPEED

const minutePlayed = (minute: number): Partial<FixtureSnapshot> => ({ periods: half(minute * 60) })

/** A recording of one frame a minute, which ends in full time. */
function recording(minutes: number): Recording {
  const frames: unknown[] = Array.from({ length: minutes }, (_, minute) => minutePlayed(minute))
  frames.push({ state: 'FINISHED', periods: [] })
  return { name: 'short', title: 'A short one', fixtureName: 'Harbour vs Mill', anchors: {}, frames }
}

let runs = 0
const start = (
  over: { recording?: Recording; traders?: number; lossless?: boolean } = {},
  onEnded: (s: ReplayStatus) => void = () => {},
) =>
  rig.realTime.replays.start(
    {
      id: `run-${++runs}`,
      recording: recording(5),
      cast: 'short',
      from: 0,
      matchId: MATCH,
      speed: SPEED,
      traders: 0,
      lossless: false,
      practice: false,
      ...over,
    },
    onEnded,
  )

/** Lets the world's time run until something holds. */
const playing = (what: string, holds: () => boolean) =>
  until(what, () => {
    rig.world.pass(1)
    return holds()
  })

describe('a replay', () => {
  it('[V5] plays its frames in order at its speed, settles the match, and reports its end', async () => {
    rig = await RealtimeRig.open()
    const ends: ReplayStatus[] = []
    const minutes: number[] = []
    const started = await start({}, (status) => ends.push(status))
    expect(started).toMatchObject({ recording: 'short', matchId: MATCH, speed: SPEED, traders: 0, state: 'playing' })
    await playing('it has ended', () => {
      const { minute = null } = rig.desk.view(MATCH)?.info ?? {}
      if (minute !== null && minutes.at(-1) !== minute) minutes.push(minute)
      return ends.length > 0
    })
    expect(ends).toEqual([{ ...started, minute: expect.any(Number), state: 'ended' }])
    expect(minutes).toEqual([0, 1, 2, 3, 4])
    expect((await rig.store.load(MATCH))?.info).toMatchObject({ replay: true, phase: 'final', feedSeq: 6 })
    expect((await rig.store.load(MATCH))?.info.settledAt).not.toBeNull()
    expect(rig.realTime.replays.status()).toEqual([])
  })

  it('[V5] continues after a restart where the match was', async () => {
    rig = await RealtimeRig.open()
    await start({ recording: recording(100) })
    expect(rig.desk.view(MATCH)?.info.feedSeq, 'the first frame').toBe(1)
    rig.world.pass(INTERVAL_MS * 40.5)
    await until('the frame now due', () => rig.desk.view(MATCH)?.info.feedSeq === 41)
    await rig.restart()
    await start({ recording: recording(100) })
    await playing('the next frame', () => (rig.desk.view(MATCH)?.info.feedSeq ?? 0) > 41)
    expect(rig.desk.view(MATCH)?.info.feedSeq).toBe(42)
  })

  it('[V5] skips to the due frame after a delay', async () => {
    rig = await RealtimeRig.open()
    await start({ recording: recording(50) })
    await until('the first frame', () => rig.desk.view(MATCH)?.info.feedSeq === 1)
    rig.world.pass(INTERVAL_MS * 20.5)
    await until('the frame now due', () => (rig.desk.view(MATCH)?.info.feedSeq ?? 0) > 1)
    expect(rig.desk.view(MATCH)?.info.feedSeq).toBe(21)
  })

  it('[V5] that has skipped all of the end but the last frame settles its match all the same', async () => {
    rig = await RealtimeRig.open()
    const ends: ReplayStatus[] = []
    const frames = [minutePlayed(0), ...Array.from({ length: 20 }, () => ({ state: 'FT', periods: [] }))]
    await start({ recording: { ...recording(1), frames } }, (status) => ends.push(status))
    await until('the first frame', () => rig.desk.view(MATCH)?.info.feedSeq === 1)
    rig.world.pass(INTERVAL_MS * 40)
    const skippedAt = rig.world.now()
    await playing('it has ended', () => ends.length > 0)
    expect(rig.world.now() - skippedAt).toBeLessThan(5_000)
  })

  it('[V7] a lossless one plays every frame after a delay, and does not end before the last', async () => {
    rig = await RealtimeRig.open()
    const ends: ReplayStatus[] = []
    const frames: number[] = []
    await start({ recording: recording(20), lossless: true }, (status) => ends.push(status))
    await until('the first frame', () => rig.desk.view(MATCH)?.info.feedSeq === 1)
    rig.world.pass(600_000)
    await playing('it has ended', () => {
      const { feedSeq = 0 } = rig.desk.view(MATCH)?.info ?? {}
      if (feedSeq > (frames.at(-1) ?? 0)) frames.push(feedSeq)
      return ends.length > 0
    })
    expect(frames).toEqual(Array.from({ length: 21 }, (_, n) => n + 1))
  })

  it('its simulated traders trade through the desk like users', async () => {
    rig = await RealtimeRig.open()
    await start({ recording: recording(500), traders: 100 })
    const positions = () => [...(rig.desk.view(MATCH)?.openPositions() ?? [])]
    await until('three positions', () => positions().length >= 3)
    expect(positions().map((position) => rig.store.positions.get(position.id))).toEqual(positions())
    expect(rig.realTime.replays.status()).toMatchObject([{ traders: 100, state: 'playing' }])
  })

  it('a frame that cannot be parsed is reported and skipped', async () => {
    rig = await RealtimeRig.open()
    const frames = [minutePlayed(0), null, minutePlayed(2), ...Array.from({ length: 50 }, () => minutePlayed(3))]
    await start({ recording: { ...recording(0), frames } })
    await playing('the third frame', () => (rig.desk.view(MATCH)?.info.feedSeq ?? 0) >= 3)
    expect(rig.reports).toHaveLength(1)
  })

  it('is stopped by id or with all others; an unknown id stops none', async () => {
    rig = await RealtimeRig.open()
    const { id } = await start({ recording: recording(500) })
    expect(await rig.realTime.replays.stop('another')).toBe(0)
    expect(await rig.realTime.replays.stop(id)).toBe(1)
    await start({ recording: recording(500) })
    expect(await rig.realTime.replays.stop()).toBe(1)
    expect(rig.realTime.replays.status()).toEqual([])
  })

  it('that is stopped while it starts does not play', async () => {
    rig = await RealtimeRig.open()
    const starting = start({ recording: recording(500) })
    expect(await rig.realTime.replays.stop()).toBe(1)
    const { id } = await starting
    expect(rig.realTime.replays.status()).toEqual([])
    expect(matchMaker.getLocalRoomById(replayRoomId(id))).toBeUndefined()
  })
})
