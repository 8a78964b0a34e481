import { STATUS_CODES } from 'node:http'
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { afterEach, expect, it } from 'vitest'
import { type FetchApp, HttpServer } from '../../src/http-server.ts'

const cleanUp: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const clean of cleanUp.splice(0).toReversed()) await clean()
})

async function open(
  answer: FetchApp['fetch'] = () => new Response('here'),
  more: { readonly arrivesWithinMs?: number } = {},
): Promise<HttpServer> {
  const server = new HttpServer({ isBehindProxy: true, ...more })
  await server.listen({ fetch: answer }, { port: 0, host: '127.0.0.1' })
  cleanUp.push(() => server.close(0))
  return server
}

/** A connection kept open by a proxy. */
async function connection(
  server: HttpServer,
): Promise<{ readonly socket: Socket; readonly ask: () => Promise<string> }> {
  const socket = connect(server.port, '127.0.0.1')
  cleanUp.push(() => void socket.destroy())
  await once(socket, 'connect')
  const ask = async (): Promise<string> => {
    socket.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n')
    let received = ''
    while (!/\r\n\r\n[^]*here/.test(received)) received += String((await once(socket, 'data'))[0])
    return received
  }
  return { socket, ask }
}

it('a draining server answers on open connections with `Connection: close`, and accepts no new ones', async () => {
  const server = await open()
  const { socket, ask } = await connection(server)
  expect(await ask()).toMatch(/connection: keep-alive/i)
  const { port } = server
  server.shut()
  // New connections are refused while this one is still open.
  await expect.poll(() => fetch(`http://127.0.0.1:${port}/`).then(String, () => 'refused')).toBe('refused')
  const ended = once(socket, 'close')
  expect(await ask()).toMatch(/connection: close/i)
  await ended
})

it('it answers a crowd that has connected before it drains', async () => {
  const server = await open()
  const crowd = Array.from({ length: 50 }, () => fetch(`http://127.0.0.1:${server.port}/`))
  // The system connects them while this turn lasts; the server accepts them later.
  await expect.poll(() => new Promise((resolve) => server.node.getConnections((_, n) => resolve(n)))).toBeGreaterThan(0)
  server.shut()
  expect(await Promise.all(crowd.map((asked) => asked.then(({ status }) => status, String)))).toEqual(
    crowd.map(() => 200),
  )
})

it('it closes when all requests are answered, without waiting for idle connections', async () => {
  const made = Promise.withResolvers<Response>()
  const asked = Promise.withResolvers<void>()
  let answers = (): Response | Promise<Response> => new Response('here')
  const server = await open(() => answers())
  const [busy, idle] = [await connection(server), await connection(server)]
  await idle.ask()
  answers = () => {
    asked.resolve()
    return made.promise
  }
  const answer = busy.ask()
  await asked.promise
  const idleEnds = once(idle.socket, 'close')
  const closed = server.close(0)
  await idleEnds
  made.resolve(new Response('here at last'))
  expect(await answer).toContain('at last')
  await closed
})

it('it keeps idle connections for longer than the minute a proxy keeps them', async () => {
  const server = await open()
  expect(server.node.keepAliveTimeout).toBeGreaterThan(60_000)
  const direct = new HttpServer({ isBehindProxy: false })
  expect(direct.node.keepAliveTimeout).toBeLessThan(10_000)
})

it('[H23] a request that does not arrive in time is cut off; an idle connection that has had an answer is not', async () => {
  const server = await open(undefined, { arrivesWithinMs: 200 })
  const idle = await connection(server)
  await idle.ask()
  const slow = await Promise.all(
    [
      '',
      'GET / HT',
      'GET / HTTP/1.1\r\nhost: here\r\nx-',
      'POST / HTTP/1.1\r\nhost: here\r\ncontent-length: 9\r\n\r\nab',
    ].map(async (begin) => {
      const { socket } = await connection(server)
      socket.write(begin)
      socket.resume()
      return once(socket, 'close')
    }),
  )
  expect(slow).toHaveLength(4)
  expect(await idle.ask()).toContain('here')
})

it('[X8] a request with two hosts is none, whichever of them counts', async () => {
  const server = await open()
  for (const second of ['here', 'elsewhere']) {
    const { socket } = await connection(server)
    socket.write(`GET / HTTP/1.1\r\nhost: here\r\nHost: ${second}\r\n\r\n`)
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 400 /)
    await once(socket, 'close')
  }
})

it.each([
  [400, 'no host', 'GET / HTTP/1.1\r\n\r\n'],
  [400, 'no name for a host', 'GET / HTTP/1.1\r\nhost: a b\r\n\r\n'],
  [400, 'two hosts', 'GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n'],
  [400, 'an unknown method', 'FOO / HTTP/1.1\r\nhost: a\r\n\r\n'],
  [400, 'a broken body', 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n'],
  [431, 'too much before its body', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`],
  [408, 'no end', 'GET / HTTP/1.1\r\nhost: a\r\n'],
])('[X8] the %i of a request with %s has a body with `error`, also after another request', async (status, _, text) => {
  const server = await open(async (request) => new Response(`here${await request.text()}`), { arrivesWithinMs: 300 })
  for (const isFirst of [true, false]) {
    const { socket, ask } = await connection(server)
    if (!isFirst) await ask()
    let received = ''
    socket.on('data', (data) => (received += String(data)))
    socket.write(text)
    await once(socket, 'close')
    expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*\\r\\n\\r\\n`))
    expect(JSON.parse(received.slice(received.indexOf('{'), received.lastIndexOf('}') + 1))).toEqual({
      error: STATUS_CODES[status]?.toLowerCase(),
    })
  }
})

it('a request of HTTP/1.0 need name no host', async () => {
  const { socket } = await connection(await open())
  socket.write('GET / HTTP/1.0\r\n\r\n')
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 200 /)
})

it('[H31] a client that waits to be asked for its body is asked when somebody reads it, and else is refused at once', async () => {
  const server = await open(async (request) =>
    request.headers.get('x-known') === null
      ? new Response('refused', { status: 413 })
      : new Response(`here: ${await request.text()}`),
  )
  const begin = 'POST / HTTP/1.1\r\nhost: here\r\nexpect: 100-continue\r\ncontent-length: 4\r\n'
  const stranger = await connection(server)
  stranger.socket.write(`${begin}\r\n`)
  expect(String((await once(stranger.socket, 'data'))[0])).toMatch(/^HTTP\/1.1 413 /)
  await once(stranger.socket, 'close')
  const { socket } = await connection(server)
  socket.write(`${begin}x-known: yes\r\n\r\n`)
  expect(String((await once(socket, 'data'))[0])).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  socket.write('body')
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 200 [^]*here: body/)
})
