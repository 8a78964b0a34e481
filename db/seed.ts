/** The rows with which every installation begins. */
import type { Kysely } from 'kysely'
import type { Database } from './postgres/schema.ts'

/** The districts that users belong to. Their ids are on profiles and boards: append, never renumber. */
export const DISTRICTS: readonly { readonly id: number; readonly name: string }[] = [
  { id: 1, name: 'Harbour Quarter' },
  { id: 2, name: 'Old Market' },
  { id: 3, name: 'Northgate' },
  { id: 4, name: 'Riverside' },
  { id: 5, name: 'Foundry Row' },
  { id: 6, name: 'Castle Hill' },
  { id: 7, name: 'Saltmarsh' },
  { id: 8, name: 'Orchard Park' },
  { id: 9, name: 'Tramway' },
  { id: 10, name: 'Lantern Street' },
  { id: 11, name: 'Kiln Lane' },
  { id: 12, name: 'Meadow End' },
]

/** Adds missing districts. One that an operator has renamed keeps its name. */
export async function seedDistricts(db: Kysely<Database>): Promise<void> {
  await db
    .insertInto('districts')
    .values([...DISTRICTS])
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
