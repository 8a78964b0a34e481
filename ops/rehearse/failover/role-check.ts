/** Says whether a PostgreSQL is the primary, at the path and with the status codes of Patroni's REST API. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { OwnPostgres } from '../rig/postgres.ts'

export class RoleCheck {
  readonly port: number
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    const address = server.address()
    this.port = typeof address === 'object' && address !== null ? address.port : 0
  }

  /** `GET /primary` is answered 200 while this server takes writes, and 503 while it does not or is gone. */
  static async of(postgres: OwnPostgres): Promise<RoleCheck> {
    const server = createServer((request, response) => {
      if (request.url !== '/primary') return void response.writeHead(404).end()
      void isPrimary(postgres).then((is) => response.writeHead(is ? 200 : 503).end())
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new RoleCheck(server)
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}

async function isPrimary(postgres: OwnPostgres): Promise<boolean> {
  try {
    const [row] = await postgres.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
    return row?.standby === false
  } catch {
    return false
  }
}
