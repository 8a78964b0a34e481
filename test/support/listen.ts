/** A server on a free port of this machine. */
import type { Server } from 'node:net'

/** Starts listening; returns the address as a URL without a path. */
export async function listenLocally(server: Server, scheme = 'http'): Promise<string> {
  await new Promise<void>((listening, failed) => {
    server.once('error', failed)
    server.listen(0, '127.0.0.1', listening)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return `${scheme}://127.0.0.1:${address.port}`
}
