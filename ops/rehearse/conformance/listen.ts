/** A server on loopback. */
import { once } from 'node:events'
import type { Server } from 'node:net'

/** Listens on this port, or for 0 on any free one; returns the port. */
export async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}
