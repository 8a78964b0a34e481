/** The files of the clients that are made: from the description of the REST API, and from what is there. */
import { describedApi } from './described.ts'
import { pageFeatures } from './page-features.ts'
import { pythonOperations } from './python.ts'

/** Path from the root → text. */
export async function generated(): Promise<Readonly<Record<string, string>>> {
  const described = await describedApi()
  return {
    'src/clients/python/touchline/operations.py': pythonOperations(described),
    'src/web/features/index.ts': await pageFeatures(),
  }
}
