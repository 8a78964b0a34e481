import { spawn } from 'node:child_process'
import { createServer, type ServerResponse } from 'node:http'
import { lookup } from 'node:dns/promises'
import { createServer as createPlainServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { listen } from '../../ops/rehearse/conformance/listen.ts'
import { isPublic, type NameServers, Poster } from '../../src/features/webhooks/post.ts'
import { shownSecret } from '../../src/features/webhooks/secret.ts'
import { signedHeaders } from '../../src/features/webhooks/sign.ts'
import { type Instant, instant } from '../../actors/kernel/world.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

/** What posts to a host of this test. */
async function posterTo(host: Server, options: { readonly timeoutMs: number; readonly sockets?: number }) {
  const url = `http://127.0.0.1:${await listen(host, 0)}`
  const poster = new Poster({ targets: 'any', ...options })
  onTestFinished(() => {
    poster.close()
    host.close()
  })
  return { poster, send: (path = '/') => poster.send({ url: `${url}${path}`, headers: {}, body: '{}' }) }
}

describe('where webhooks may lead', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::a00:1',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '2002:a00:1::1',
    '2001::1',
    'hooks.example',
  ])('[S22] not to %s', (address) => {
    expect(isPublic(address)).toBe(false)
  })

  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '192.169.0.1', '2606:4700::1111', '2a00:1450:4001::1'])(
    'to %s',
    (address) => {
      expect(isPublic(address)).toBe(true)
    },
  )

  it('[S22] in production over TLS only, to no private address, and with no password', () => {
    const poster = new Poster({ targets: 'public', timeoutMs: 1_000 })
    const problem = (url: string) => poster.problemOf(new URL(url))
    expect(problem('https://hooks.example/a?b')).toBeNull()
    expect(problem('https://8.8.8.8/')).toBeNull()
    for (const url of ['http://hooks.example/', 'ftp://hooks.example/', 'https://u:p@hooks.example/'])
      expect(problem(url)).not.toBeNull()
    // However the address is written.
    for (const host of ['127.0.0.1', '[::1]', '0x7f.1', '2130706433', '[::ffff:10.0.0.1]'])
      expect(problem(`https://${host}/`)).toBe('must lead to a public address')
  })

  it('[S22] not by a name that leads inside', async () => {
    const nameServers: NameServers = {
      resolve4: async () => ['8.8.8.8', '127.0.0.1'],
      resolve6: () => Promise.reject(new Error('none')),
    }
    const poster = new Poster({ targets: 'public', timeoutMs: 2_000, nameServers })
    const sent = poster.send({ url: 'https://hooks.example:9/', headers: {}, body: '{}' })
    await expect(sent).rejects.toThrow('hooks.example does not lead to public addresses alone')
    const plain = poster.send({ url: 'http://localhost:9/', headers: {}, body: '{}' })
    await expect(plain).rejects.toThrow('https://')
    poster.close()
  })

  it('[S22] to no redirect', async () => {
    const receiver = new WebhookReceiver()
    await receiver.listen()
    receiver.conduct = () => 307
    const poster = new Poster({ targets: 'any', timeoutMs: 2_000 })
    const body = JSON.stringify({ type: 'webhook.test', timestamp: '', data: {} })
    expect(await poster.send({ url: receiver.url, headers: {}, body })).toBe(307)
    expect(receiver.together).toBe(1)
    poster.close()
    await receiver.kill()
  })
})

describe('[R22] a host that misbehaves keeps no post waiting beyond its time', () => {
  it('names that no server answers for hold no look-up of the process', async () => {
    const asked: string[] = []
    const hang = (name: string) => new Promise<never>(() => void asked.push(name))
    const nameServers: NameServers = { resolve4: hang, resolve6: hang }
    const poster = new Poster({ targets: 'public', timeoutMs: 500, sockets: 20, nameServers })
    const sent = Array.from({ length: 10 }, (_, n) =>
      poster.send({ url: `https://b${n}.slow.example/`, headers: {}, body: '{}' }).catch((error: Error) => error.name),
    )
    await vi.waitUntil(() => asked.length === 20, { timeout: 60_000 })
    expect((await lookup('localhost')).address).toMatch(/127\.0\.0\.1|::1/)
    expect(new Set(await Promise.all(sent)).size).toBe(1)
    poster.close()
  })

  it('once it is closed, what waits for a connection fails and makes none', async () => {
    let connections = 0
    const host = createPlainServer((socket) => {
      connections++
      socket.on('error', () => undefined)
    })
    const { poster, send } = await posterTo(host, { timeoutMs: 60_000 })
    const sent = Array.from({ length: 6 }, () => send().then(String, () => 'no answer'))
    await vi.waitUntil(() => connections === 2, { timeout: 60_000 })
    poster.close()
    expect(new Set(await Promise.all(sent))).toEqual(new Set(['no answer']))
    expect(connections).toBe(2)
  })

  it('an answer that switches protocols is its status', async () => {
    const host = createPlainServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => socket.write('HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'))
    })
    const { send } = await posterTo(host, { timeoutMs: 60_000 })
    expect(await send()).toBe(101)
  })

  it.each([
    ['says nothing', ''],
    ['begins a head', 'HTTP/1.1 201 Created\r\nx: '],
    ['says to go on', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
    ['sends half of a body', 'HTTP/1.1 201 Created\r\ncontent-length: 9\r\n\r\nhalf'],
  ])('a host that %s has its time', async (_what, text) => {
    const host = createPlainServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => socket.write(text))
    })
    const { send } = await posterTo(host, { timeoutMs: 200 })
    await expect(send()).rejects.toThrow()
  })
})

describe('[R22] a host that answers some and not others', () => {
  it.each(['hang', 'drip'])('keeps none waiting behind those that %s, with a connection for each', async (what) => {
    const held: ServerResponse[] = []
    const host = createServer((request, response) => {
      request.resume()
      if (request.url === '/good') return void response.writeHead(201).end()
      if (what === 'drip') response.writeHead(201).write('.')
      held.push(response)
    })
    const { poster, send } = await posterTo(host, { timeoutMs: 60_000, sockets: 30 })
    const bad = Array.from({ length: 20 }, () => send('/bad').then(String, () => 'no answer'))
    await vi.waitUntil(() => held.length === 20, { timeout: 60_000 })
    expect(await Promise.all(Array.from({ length: 20 }, () => send('/good')))).toEqual(Array(20).fill(201))
    // An answer that does not end is none.
    poster.close()
    expect(new Set(await Promise.all(bad))).toEqual(new Set(['no answer']))
    host.closeAllConnections()
  })
})

it('[R20] a message is signed as the example of Standard Webhooks is', () => {
  const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')
  const body = '{"test": 2432232314}'
  const headers = signedHeaders(secret, { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body, at: instant(1_614_265_330_999) })
  expect(headers).toMatchObject({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
  expect(shownSecret(secret)).toBe('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
})

it('[R20] the example of a receiver takes what is signed, and prints a repetition once', async () => {
  const secret = Buffer.from('a secret of 32 bytes, more or so')
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../ops/examples/webhook.mjs'), '0'], {
    env: { ...process.env, WEBHOOK_SECRET: shownSecret(secret) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const url = `http://127.0.0.1:${/\d+$/.exec((await lines.next()).value ?? '')?.[0]}/`
  const poster = new Poster({ targets: 'any', timeoutMs: 5_000 })
  const at = instant(Date.now())
  const send = (id: string, text: string, over: { readonly at?: Instant; readonly secret?: Buffer } = {}) => {
    const body = JSON.stringify({ type: 'touchline.events', data: { events: [{ text }] } })
    const headers = signedHeaders(over.secret ?? secret, { id, body, at: over.at ?? at })
    return poster.send({ url, headers, body })
  }
  expect(await send('msg_0', 'forged', { secret: Buffer.alloc(32) })).toBe(401)
  expect(await send('msg_0', 'old', { at: instant(at - 301_000) })).toBe(401)
  expect(await send('msg_1', 'one')).toBe(204)
  expect(await send('msg_1', 'one')).toBe(204)
  expect(await send('msg_2', 'two')).toBe(204)
  expect([(await lines.next()).value, (await lines.next()).value]).toEqual(['{"text":"one"}', '{"text":"two"}'])
  poster.close()
  child.kill()
})
