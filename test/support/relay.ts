/** A way to a Redis server that a test can cut, mend and freeze. */
import { createConnection, createServer, type Socket } from 'node:net'

/** A TCP relay in front of the server: its connections can be cut, refused, or left without answers. */
export async function startRelay(server: string) {
  const target = new URL(server)
  const sockets = new Set<Socket>()
  let refusing = false
  const listener = createServer((client) => {
    if (refusing) {
      client.destroy()
      return
    }
    const upstream = createConnection(Number(target.port || 6379), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    upstream.pipe(client)
  })
  await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening))
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('the relay has no port')
  return {
    url: `redis://127.0.0.1:${address.port}`,
    cut() {
      refusing = true
      for (const socket of sockets) socket.destroy()
    },
    restore() {
      refusing = false
    },
    freeze() {
      for (const socket of sockets) socket.unpipe().pause()
    },
    stop: () => new Promise<void>((closed) => listener.close(() => closed())),
  }
}
