/** Opens the SQL database, PostgreSQL or the embedded PGlite. The driver of the other is not loaded. */
import type { Connection, ConnectOptions } from './connection.ts'

/**
 * The database that the options choose. PostgreSQL is contacted by the first query, so a server may start before its
 * database; the embedded one is open when this resolves. Throws when another process has the folder.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { databaseUrl, dataDir } = options
  if (databaseUrl === null) {
    const { connectEmbedded } = await import('./embedded.ts')
    return connectEmbedded(dataDir)
  }
  const { connectServer } = await import('./server.ts')
  return connectServer(databaseUrl, options)
}
