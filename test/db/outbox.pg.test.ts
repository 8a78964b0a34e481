import { beforeEach, describe, expect, it } from 'vitest'
import { sql } from 'kysely'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import { Outbox, type Reaction } from '../../db/outbox.ts'
import { systemWorld } from '../../src/system-world.ts'
import { react } from '../../src/reactions/react.ts'
import { eachDatabase } from '../support/databases.ts'
import { seasonOn } from '../support/season.ts'

eachDatabase((open) => {
  const world = systemWorld()
  const season = seasonOn(open, world)

  beforeEach(() => season.reactor.drain())

  const rowsOf = async (match: number) =>
    (await open().db.selectFrom('outbox').selectAll().where('match_id', '=', match).orderBy('seq').execute()).map(
      ({ seq, events }) => [seq, (events as { kind: string }[]).map(({ kind }) => kind)],
    )
  const cursorOf = (match: number) =>
    open().db.selectFrom('outbox_cursors').selectAll().where('match_id', '=', match).executeTakeFirst()
  /** What is put off until later is due now. */
  const hurry = () => sql`update outbox_cursors set retry_at = '-infinity'`.execute(open().db)

  it('[R1] a commit leaves one row of events, numbered without gaps; price moves alone leave no row', async () => {
    const match = await season.match()
    const [one, two] = [await match.open(await season.player()), await match.open(await season.player())]
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
    await match.open(await season.player())
    await expect(match.open(await season.player(), { lots: 1_000 })).rejects.toThrow('rejected')
    expect(await rowsOf(match.id)).toEqual([[1, ['opened']]])
  })

  it('[R1] a commit of 1,200 trades leaves rows of 500 events, reacted to in bounded transactions', async () => {
    const match = await season.match()
    const users = await Promise.all(Array.from({ length: 20 }, () => season.player()))
    const positions = users.flatMap((user) => Array.from({ length: 60 }, () => match.position(user, { lots: 0.01 })))
    await match.commit(positions.map((position) => ({ kind: 'position_opened', position })))
    expect((await rowsOf(match.id)).map(([, events]) => Array.isArray(events) && events.length)).toEqual([
      500, 500, 200,
    ])
    const pieces: number[] = []
    const watching: Reaction = async (commits, effects) => {
      pieces.push(commits.reduce((sum, { events }) => sum + events.length, 0))
      await react(commits, effects)
    }
    while ((await season.outbox.react(watching)) !== null);
    expect(pieces.reduce((a, b) => a + b)).toBe(1_200)
    expect(Math.max(...pieces)).toBeLessThanOrEqual(1_000)
    for (const user of users) expect(await season.careers.find(user)).toMatchObject({ opened: 60 })
  })

  it('[R2] effects and cursor are one transaction: a reaction that dies half-way has done nothing', async () => {
    const match = await season.match()
    const user = await season.player()
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
    await match.close(await match.open(await season.player()), 210)
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
      const [bad, good] = [await season.player(), await season.player()]
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
      expect(await cursorOf(match.id)).toMatchObject({ seq: 3, attempts: 0, finished: false })
      await match.settle()
      await match.open(bad)
      await exhaust(poisoned(bad))
      expect(await cursorOf(match.id)).toMatchObject({ finished: true })
    })

    it('[R3] waits before each retry, while other matches continue', async () => {
      const [bad, good] = [await season.player(), await season.player()]
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

    it('[R3] goes behind the other matches, whatever the error; only a lost connection counts no attempt', async () => {
      const codes = ['08P01', '08006', '22P05', '23514', '40001', '40P01', '53200', '55P03', '57014', '57P01', 'XX000']
      for (const code of codes) {
        const [match, other] = [await season.match(), await season.match()]
        const user = await season.player()
        await match.open(user)
        const refusing: Reaction = async (commits, effects) => {
          if (commits[0]?.matchId === match.id) throw Object.assign(new Error('refused'), { code })
          await react(commits, effects)
        }
        const isLost = ['08006', '57P01'].includes(code)
        const first = season.outbox.react(refusing)
        if (isLost) await expect(first).rejects.toThrow('refused')
        else expect(await first).toMatchObject({ kind: 'failed', setAside: null })
        expect(await cursorOf(match.id)).toMatchObject({ seq: 0, attempts: isLost ? 0 : 1 })
        await hurry()
        await other.open(user)
        await sql`update outbox_cursors set taken_at = clock_timestamp() where match_id = ${other.id}`.execute(
          open().db,
        )
        await sql`update outbox_cursors set taken_at = '-infinity' where match_id = ${match.id}`.execute(open().db)
        await season.outbox.react(refusing).catch(() => undefined)
        await hurry()
        expect(await season.outbox.react(refusing), code).toMatchObject({ kind: 'reacted' })
        expect(await cursorOf(other.id), code).toMatchObject({ seq: 1 })
        await hurry()
        await season.reactor.drain()
      }
    })

    it('[R3] is set aside even when its error holds what PostgreSQL cannot store', async () => {
      const match = await season.match()
      await match.open(await season.player())
      await exhaust(async () => {
        throw new Error('a \0 in a name')
      })
      expect(await season.outbox.setAside(1)).toMatchObject([{ matchId: match.id, error: 'Error: a  in a name' }])
    })

    it('[R3] can be retried manually, once', async () => {
      const bad = await season.player()
      const match = await season.match()
      await match.open(bad)
      await exhaust(poisoned(bad))
      await expect(season.outbox.retry(match.id, 1, poisoned(bad))).rejects.toThrow('poison')
      const told = await season.outbox.retry(match.id, 1, react)
      expect(told).toMatchObject([{ userId: bad, type: 'badge' }])
      expect(await season.careers.find(bad)).toMatchObject({ opened: 1 })
      expect(await season.outbox.retry(match.id, 1, react)).toBeNull()
      expect(await season.careers.find(bad)).toMatchObject({ opened: 1 })
    })
  })

  it('[R2] several reactors share the work: each commit has its effects once, in the order of its match', async () => {
    const user = await season.player()
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
