/** Ports for servers that are started on this machine for a while. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/**
 * Below what Linux and macOS give to outgoing connections: one of those could take the port before its server starts.
 */
const LOWEST = 20_000
const BEYOND = 32_000
const TRIES = 100

/** A port of 127.0.0.1 on which nothing listens. Throws if none is found. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(LOWEST, BEYOND)
    if (await isFree(port)) return port
  }
  throw new Error(`no free port found from ${LOWEST} to ${BEYOND - 1} in ${TRIES} tries`)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const listening = once(server, 'listening')
  server.listen(port, '127.0.0.1')
  try {
    await listening
  } catch {
    return false
  }
  const closed = once(server, 'close')
  server.close()
  await closed
  return true
}

/** Whether a server accepts connections on this port of 127.0.0.1. */
export async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const connected = once(socket, 'connect')
  try {
    await connected
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
