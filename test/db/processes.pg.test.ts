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
    const { at, unseen } = recordsBench(open())
    for (const id of ['a', 'b']) await at(id).seen(true)
    await unseen('b', 59)
    await at('a').seen(true)
    expect(await known()).toEqual(['a', 'b'])
    await unseen('b', 2)
    await at('a').seen(true)
    expect(await known()).toEqual(['a'])
  })
})
