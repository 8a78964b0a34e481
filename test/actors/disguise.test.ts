import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, type PlayerId, playerId } from '../../actors/kernel/ids.ts'
import { instant } from '../../actors/kernel/world.ts'
import { disguiseOf } from '../../actors/replay/disguise.ts'
import type { Recording } from '../../actors/replay/recording.ts'
import { instrumentIdFor } from '../../src/provider/instrument-ids.ts'
import { parseFixture } from '../../src/provider/snapshot.ts'
import { loadRecording } from '../../src/replays/recordings.ts'

const SEED = '00112233445566778899aabbccddeeff'
const START_SECS = 1_700_000_000

const load = (name: string): Promise<Recording> =>
  loadRecording(new URL(`../../ops/replays/${name}.jsonl.br`, import.meta.url).pathname)

function read(payload: unknown) {
  const parsed = parseFixture(payload, { instrumentIdOf: (id) => instrumentIdFor('test', id), receivedAt: instant(0) })
  if (!parsed.ok) throw new Error(parsed.reason)
  return { ...parsed.snapshot, fixtureId: fixtureId(1) }
}

const without = (row: object, ...fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).filter(([field]) => !fields.includes(field)))

describe('a recording in disguise', () => {
  it.each(['goal-feast', 'cup-night'])('[G6] %s: the same happens, to players of other names', async (name) => {
    const recording = await load(name)
    const disguise = disguiseOf(recording, SEED, START_SECS)
    const renamed = (id: PlayerId | null) =>
      id === null ? null : playerId(present(disguise.players.get(String(id)), 'player').id)
    for (let n = 0; n < recording.frames.length; n += 37) {
      const [before, after] = [read(recording.frames[n]), read(disguise.frame(recording.frames[n]))]
      const withoutNames = (team: typeof before.home) => without(team, 'id', 'name')
      expect(after).toMatchObject({
        state: before.state,
        stateId: before.stateId,
        expectedGoals: before.expectedGoals,
        teamStats: before.teamStats,
        startsAt: START_SECS * 1_000,
        home: { ...withoutNames(before.home), name: disguise.clubs[0] },
        away: { ...withoutNames(before.away), name: disguise.clubs[1] },
      })
      const periodsOf = ({ periods }: typeof before) => periods.map((period) => without(period, 'id'))
      expect(periodsOf(after)).toEqual(periodsOf(before))
      const plain = (event: (typeof seen)[number]) => without(event, 'id', 'playerName', 'relatedPlayerName')
      const seen = present(after.events ?? undefined, 'events')
      expect(seen.map(plain)).toEqual(
        before.events?.map((event) => ({
          ...plain(event),
          playerId: renamed(event.playerId),
          relatedPlayerId: renamed(event.relatedPlayerId),
        })),
      )
      const players = new Map(after.players.map((player) => [player.playerId, player]))
      expect(players.size).toBe(before.players.length)
      for (const { playerId: id, side, role, starter, details } of before.players) {
        expect(players.get(present(renamed(id) ?? undefined, 'player'))).toMatchObject({ side, role, starter, details })
      }
    }
  })

  it('[G6] shows no name and no number of its own', async () => {
    const recording = await load('cup-night')
    const disguise = disguiseOf(recording, SEED, START_SECS)
    const shown = JSON.stringify([0, 200, 500].map((n) => disguise.frame(recording.frames[n])))
    const original = read(recording.frames[500])
    for (const { name, playerId: id } of original.players) {
      expect(shown).not.toContain(JSON.stringify(name))
      if (id > original.players.length) expect(shown).not.toMatch(new RegExp(`player_id":"?${id}\\b`))
    }
    for (const club of [original.home, original.away]) expect(shown).not.toContain(JSON.stringify(club.name))
    expect(shown).not.toContain(JSON.stringify(original.league))
    const names = [...disguise.players.values()].map(({ name }) => name)
    expect(new Set(names).size, 'all names differ').toBe(names.length)
    expect(disguise.clubs[0]).not.toBe(disguise.clubs[1])
  })

  it('[G6] is the same for the same seed, and another for each part of it', async () => {
    const recording = await load('slow-burner')
    const namesBy = (seed: string) =>
      JSON.stringify([...disguiseOf(recording, seed, START_SECS).players].map(([id, { name }]) => [id, name]))
    expect(namesBy(SEED)).toBe(namesBy(SEED))
    const others = [0, 8, 16, 24].map((at) => namesBy(`${SEED.slice(0, at)}f${SEED.slice(at + 1)}`))
    expect(new Set([namesBy(SEED), ...others]).size).toBe(5)
  })

  it('keeps the prices that players begin with, and rows that frames share', async () => {
    const recording = await load('goal-feast')
    const { anchors, players, frame } = disguiseOf(recording, SEED, START_SECS)
    for (const [id, anchor] of Object.entries(recording.anchors)) {
      const known = players.get(id)
      if (known !== undefined) expect(anchors[String(known.id)]).toBe(anchor)
    }
    expect(Object.keys(anchors).length).toBeGreaterThan(20)
    const lineups = (n: number) => (frame(recording.frames[n]) as { lineups: unknown[] }).lineups
    const shared = lineups(1).filter((row) => lineups(2).includes(row))
    expect(shared.length).toBeGreaterThan(0)
  })
})
