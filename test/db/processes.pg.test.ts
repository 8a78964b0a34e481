import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { processesContract } from '../contract/records.ts'
import { eachDatabase } from '../support/databases.ts'
import { recordsBench } from './records-bench.ts'

eachDatabase((open) => {
  processesContract(() => recordsBench(open()), {
    fresh: async () => {
      await sql`truncate processes, match_leases`.execute(open().db)
    },
  })

  it('the row of a process that was killed is removed after a minute', async () => {
    const known = async () =>
      (await open().db.selectFrom('processes').select('id').orderBy('id').execute()).map(({ id }) => id)
    const bench = recordsBench(open())
    for (const id of ['a', 'b']) await bench.at(id).seen(true)
    await bench.unseen('b', 59)
    await bench.at('a').seen(true)
    expect(await known()).toEqual(['a', 'b'])
    await bench.unseen('b', 2)
    await bench.at('a').seen(true)
    expect(await known()).toEqual(['a'])
  })
})
