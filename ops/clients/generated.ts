/** The files of the clients that are made from the description of the REST API. */
import { csharpOperations } from './csharp.ts'
import { describedApi } from './described.ts'
import { javaOperations } from './java.ts'
import { pythonOperations } from './python.ts'

/** Path from the root → text. */
export async function generated(): Promise<Readonly<Record<string, string>>> {
  const described = await describedApi()
  return {
    'src/clients/csharp/Touchline/Operations.cs': csharpOperations(described),
    'src/clients/java/touchline/Operations.java': javaOperations(described),
    'src/clients/python/touchline/operations.py': pythonOperations(described),
  }
}
