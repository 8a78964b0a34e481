/** The files of the clients that are made from the description of the REST API. */
import { describedApi } from './described.ts'
import { pythonOperations } from './python.ts'

/** Path from the root → text. */
export async function generated(): Promise<Readonly<Record<string, string>>> {
  const described = await describedApi()
  return {
    'src/clients/python/touchline/operations.py': pythonOperations(described),
  }
}
