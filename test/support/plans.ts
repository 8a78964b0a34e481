/** The plans by which a database answers. */
import { CompiledQuery, type Kysely } from 'kysely'
import { vi } from 'vitest'
import type { Database } from '../../db/postgres/schema.ts'

/** Those of the queries that some work makes outside of transactions, as they have run, with the rows of each step. */
export async function plansOf(db: Kysely<Database>, work: () => Promise<unknown>): Promise<readonly string[]> {
  const executed = vi.spyOn(db.getExecutor(), 'executeQuery')
  await work()
  const queries = executed.mock.calls.map(([query]) => query)
  executed.mockRestore()
  const plans: string[] = []
  for (const { sql, parameters } of queries) {
    const explain = `explain (analyze, costs off, timing off, summary off, buffers off) ${sql}`
    const { rows } = await db.executeQuery<Record<string, string>>(CompiledQuery.raw(explain, [...parameters]))
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
  }
  return plans
}
