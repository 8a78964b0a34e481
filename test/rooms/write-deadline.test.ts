import { afterEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { socketOptions, WriteDeadline } from '../../rooms/sockets/write-deadline.ts'
import { type SocketPair, socketPair, stall, until } from './realtime-rig.ts'

let pair: SocketPair
let deadline: WriteDeadline
afterEach(async () => {
  deadline.stop()
  vi.useRealTimers()
  await pair.close()
})

/** A pair whose server side is under a deadline, whose clock the test moves. */
async function watched(): Promise<void> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  deadline = new WriteDeadline()
  pair = await socketPair()
  deadline.guard(pair.ws, pair.socket)
}

describe('the write deadline', () => {
  it('[W14] closes with 4008 a socket that missed three deadlines in a row, and not before', async () => {
    await watched()
    await stall(pair)
    deadline.check(pair.ws)
    vi.advanceTimersByTime(299)
    expect(pair.ws.readyState).toBe(WebSocket.OPEN)
    vi.advanceTimersByTime(1)
    expect(pair.ws.readyState).toBe(WebSocket.CLOSING)
    pair.client.ws.resume()
    expect(await pair.client.closed).toBe(4008)
    expect(deadline.closed, 'counted for operators').toBe(1)
  })

  it('a write that drains late resets the count, even if the next one is already waiting', async () => {
    await watched()
    await stall(pair)
    deadline.check(pair.ws)
    for (let round = 0; round < 3; round++) {
      vi.advanceTimersByTime(200)
      pair.client.ws.resume()
      await until('it has drained', () => pair.socket.writableLength === 0)
      await stall(pair)
    }
    vi.advanceTimersByTime(200)
    expect(pair.ws.readyState).toBe(WebSocket.OPEN)
  })

  it('[W14] closes a socket with more than 1 MiB queued at the next check', async () => {
    await watched()
    await stall(pair)
    pair.ws.send('x'.repeat(1024 * 1024))
    deadline.check(pair.ws)
    vi.advanceTimersByTime(100)
    expect(pair.ws.readyState).toBe(WebSocket.CLOSING)
  })

  it('a socket that keeps up is not checked', async () => {
    await watched()
    pair.ws.send('hello')
    deadline.check(pair.ws)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('applies to pongs as well', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    deadline = new WriteDeadline()
    pair = await socketPair({ WebSocket: socketOptions(deadline).WebSocket })
    deadline.guard(pair.ws, pair.socket)
    pair.client.ws.pause()
    while (pair.socket.writableLength === 0) {
      pair.socket.write(Buffer.alloc(100_000))
      await new Promise(setImmediate)
    }
    const asked = new Promise((resolve) => pair.ws.once('ping', resolve))
    pair.client.ws.ping()
    await asked
    vi.advanceTimersByTime(300)
    expect(pair.ws.readyState).toBe(WebSocket.CLOSING)
  })
})

describe('a message that announces too many bytes', () => {
  it('is refused by its header: the rest is not read, and the connection is cut', async () => {
    deadline = new WriteDeadline()
    const { maxPayload, WebSocket: Guarded } = socketOptions(deadline)
    pair = await socketPair({ maxPayload, WebSocket: Guarded })
    deadline.guard(pair.ws, pair.socket)
    pair.client.ws.on('error', () => undefined) // it is cut while it sends
    pair.client.ws.send(Buffer.alloc(16 * 1024 * 1024))
    expect(await pair.client.closed).toBe(1009)
    await until('it is cut off', () => pair.socket.destroyed)
    expect(pair.socket.bytesRead).toBeLessThan(1024 * 1024)
  })
})
