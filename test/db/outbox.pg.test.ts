import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sql } from 'kysely'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import { Outbox, type Reaction } from '../../db/outbox.ts'
import { systemWorld } from '../../src/system-world.ts'
import { react } from '../../src/reactions/react.ts'
import { eachDatabase } from '../support/databases.ts'
import { openSeason, type Season } from '../support/season.ts'

eachDatabase((open) => {
  const world = systemWorld()
  let season: Season
  let names = 0

  beforeAll(async () => {
    season = await openSeason(open(), world)
  })

  beforeEach(() => season.reactor.drain())

  const rowsOf = async (match: number) =>
    (await open().db.selectFrom('outbox').selectAll().where('match_id', '=', match).orderBy('seq').execute()).map(
      ({ seq, events }) => [seq, (events as { kind: string }[]).map(({ kind }) => kind)],
    )
  const cursorOf = (match: number) =>
    open().db.selectFrom('outbox_cursors').selectAll().where('match_id', '=', match).executeTakeFirst()
  /** What is put off until later is due now. */
  const hurry = () => sql`update outbox_cursors set retry_at = '-infinity'`.execute(open().db)
  const player = () => season.user(`Outbox ${++names}`)

  it('[R1] a commit leaves one row of events, numbered without gaps; price moves alone leave no row', async () => {
    const match = await season.match()
    const [one, two] = [await match.open(await player()), await match.open(await player())]
    await match.commit([])
    await match.commit([match.closed(one, 210), match.closed(two, 190)])
    await match.settle()
    expect(await rowsOf(match.id)).toEqual([
      [1, ['opened']],
      [2, ['opened']],
      [3, ['closed', 'closed']],
      [4, ['match_settled']],
    ])
  })

  it('[R1] a rejected batch leaves no row', async () => {
    const match = await season.match()
    await match.open(await player())
    await expect(match.open(await player(), { lots: 1_000 })).rejects.toThrow('rejected')
    expect(await rowsOf(match.id)).toEqual([[1, ['opened']]])
  })

  it('[R2] effects and cursor are one transaction: a reaction that dies half-way has done nothing', async () => {
    const match = await season.match()
    const user = await player()
    await match.open(user)
    const dying: Reaction = async (commits, effects) => {
      await react(commits, effects)
      throw new Error('killed')
    }
    expect(await season.outbox.react(dying)).toMatchObject({ kind: 'failed', setAside: null })
    expect(await season.careers.find(user)).toMatchObject({ opened: 0, xp: 0 })
    expect(await cursorOf(match.id)).toMatchObject({ seq: 0, attempts: 1 })
    await hurry()
    expect(await season.outbox.react(react)).toMatchObject({ kind: 'reacted', commits: 1 })
    expect(await season.careers.find(user)).toMatchObject({ opened: 1 })
    expect(await season.outbox.react(react)).toBeNull()
  })

  it('a settled match without pending commits is not read again', async () => {
    const match = await season.match()
    await match.close(await match.open(await player()), 210)
    await match.settle()
    await season.reactor.drain()
    expect(await cursorOf(match.id)).toMatchObject({ seq: 3, finished: true })
    expect(await season.outbox.lag()).toEqual({ commits: 0, oldestAt: null })
  })

  describe('a row that cannot be reacted to', () => {
    const poisoned =
      (poison: string): Reaction =>
      async (commits, effects) => {
        if (commits.some((c) => c.events.some((e) => 'userId' in e && e.userId === poison))) throw new Error('poison')
        await react(commits, effects)
      }
    const exhaust = async (reaction: Reaction) => {
      for (;;) {
        await hurry()
        if ((await season.outbox.react(reaction)) === null) return
      }
    }

    it('[R3] is tried a bounded number of times, set aside where admins see it, and does not stop the rest', async () => {
      const [bad, good] = [await player(), await player()]
      const [match, other] = [await season.match(), await season.match()]
      await match.open(good)
      await match.open(bad)
      await match.open(good)
      await other.open(good)
      await exhaust(poisoned(bad))
      expect(await season.careers.find(good)).toMatchObject({ opened: 3 })
      expect(await season.careers.find(bad)).toMatchObject({ opened: 0 })
      const [aside] = await season.outbox.setAside(1)
      expect(aside).toMatchObject({ matchId: match.id, seq: 2, error: 'Error: poison', attempts: 5 })
      expect(await cursorOf(match.id)).toMatchObject({ seq: 3, attempts: 0 })
    })

    it('[R3] waits before each retry, while other matches continue', async () => {
      const [bad, good] = [await player(), await player()]
      const [match, other] = [await season.match(), await season.match()]
      await match.open(bad)
      expect(await season.outbox.react(poisoned(bad))).toMatchObject({ kind: 'failed', setAside: null })
      const { retry_at: due } = (await cursorOf(match.id)) ?? {}
      const now = (await sql<{ now: Date }>`select clock_timestamp() as now`.execute(open().db)).rows[0]?.now
      expect((due?.getTime() ?? 0) - (now?.getTime() ?? 0)).toBeLessThanOrEqual(SECOND_MS)
      await sql`update outbox_cursors set retry_at = 'infinity' where match_id = ${match.id}`.execute(open().db)
      await other.open(good)
      expect(await season.outbox.react(poisoned(bad))).toMatchObject({ kind: 'reacted' })
      expect(await season.outbox.react(poisoned(bad))).toBeNull()
      await hurry()
    })

    it('[R3] can be retried manually, once', async () => {
      const bad = await player()
      const match = await season.match()
      await match.open(bad)
      await exhaust(poisoned(bad))
      await expect(season.outbox.retry(match.id, 1, poisoned(bad))).rejects.toThrow('poison')
      expect(await season.outbox.retry(match.id, 1, react)).toBe(true)
      expect(await season.careers.find(bad)).toMatchObject({ opened: 1 })
      expect(await season.outbox.retry(match.id, 1, react)).toBe(false)
      expect(await season.careers.find(bad)).toMatchObject({ opened: 1 })
    })
  })

  it('[R2] several reactors share the work: each commit has its effects once, in the order of its match', async () => {
    const user = await player()
    const matches = await Promise.all(Array.from({ length: 4 }, () => season.match()))
    for (let n = 0; n < 6; n++) for (const match of matches) await match.open(user, { lots: 0.01 })
    const seen = new Map<number, number[]>()
    const watching: Reaction = async (commits, effects) => {
      await react(commits, effects)
      for (const { matchId, seq } of commits) seen.set(matchId, [...(seen.get(matchId) ?? []), seq])
    }
    const reactors = Array.from({ length: 3 }, () => new Outbox(open().db, season.cache, world))
    const drain = async (outbox: Outbox) => {
      while ((await outbox.lag()).commits > 0) await outbox.react(watching)
    }
    await Promise.all(reactors.map(drain))
    expect(await season.careers.find(user)).toMatchObject({ opened: 24 })
    for (const { id } of matches) expect(seen.get(id)).toEqual([1, 2, 3, 4, 5, 6])
  })
})
