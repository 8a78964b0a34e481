import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import { SqlLeases } from '../../db/leases.ts'
import { Processes } from '../../db/processes.ts'
import { eachDatabase } from '../support/databases.ts'

eachDatabase((open) => {
  const at = (id: string, runsMatches = true) => new Processes(open().db, { id, runsMatches })
  const leasesOf = (owner: string) => new SqlLeases(open().db, { owner, ttlMs: 5 * SECOND_MS, alone: false })
  const age = (id: string, secs: number) =>
    sql`update processes set seen_at = seen_at - make_interval(secs => ${secs}) where id = ${id}`.execute(open().db)
  const known = async () =>
    (await open().db.selectFrom('processes').select('id').orderBy('id').execute()).map(({ id }) => id)

  beforeEach(async () => {
    await sql`truncate processes, match_leases`.execute(open().db)
  })

  it('[Q18] a process learns which others run and hear, for as long as they say so', async () => {
    expect(await at('a').seen(true)).toEqual([])
    expect(await at('b', false).seen(true)).toEqual([{ id: 'a', runsMatches: true }])
    expect(await at('c').seen(false)).toEqual([
      { id: 'a', runsMatches: true },
      { id: 'b', runsMatches: false },
    ])
    expect(await at('a').seen(true)).toEqual([{ id: 'b', runsMatches: false }])
    await age('b', 4)
    expect(await at('a').seen(true)).toEqual([])
    await age('b', 60)
    await at('a').seen(true)
    expect(await known()).toEqual(['a', 'c'])
    await at('c').left()
    expect(await known()).toEqual(['a'])
  })

  it('[Q19] two witnesses, or one where there is no second, release the matches of a process and of no other', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await at(id).seen(true)
    for (const [match, owner] of [
      [801, 'a'],
      [802, 'a'],
      [803, 'b'],
    ] as const)
      await leasesOf(owner).acquire(fixtureId(match))
    expect(await at('c').missed('a', 2)).toEqual([])
    expect(await at('c').missed('a', 2)).toEqual([]) // the same one
    expect(new Set(await at('d').missed('a', 2))).toEqual(new Set([801, 802]))
    expect(await at('d').missed('a', 2)).toEqual([])
    expect(await leasesOf('d').ownerOf(fixtureId(803))).toBe('b')
    expect(await leasesOf('d').acquire(fixtureId(801))).toBe(2)
    // It was alive: it has lost this match, and can renew the other.
    expect(await leasesOf('a').renew(fixtureId(801), 1)).toBe(false)
    expect(await leasesOf('a').renew(fixtureId(802), 1)).toBe(true)
    expect(await at('c').missed('b', 1)).toEqual([803])
  })

  it('[Q19] a witness of long ago does not count, nor one of a process that has left', async () => {
    await at('a').seen(true)
    await leasesOf('a').acquire(fixtureId(804))
    expect(await at('c').missed('a', 2)).toEqual([])
    await sql`update processes set missed_at = missed_at - interval '3 seconds'`.execute(open().db)
    expect(await at('d').missed('a', 2)).toEqual([])
    await at('a').left()
    expect(await at('c').missed('a', 2)).toEqual([])
    expect(await leasesOf('c').ownerOf(fixtureId(804))).toBe('a')
  })
})
