import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { P } from '../support/fixtures.ts'
import { ServerRig } from '../support/server-rig.ts'
import type { HttpClient } from '../support/http-client.ts'
import { eachDataPlace } from '../support/data-place.ts'

const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000'
const JSON_TYPE = 'application/json'

/** Invalid numbers, as text of a body. */
const INVALID_NUMBERS = [
  'NaN',
  'Infinity',
  '-Infinity',
  '01',
  '.5',
  '1.',
  '0x10',
  '1_000',
  '+1',
  '1,5',
  '',
  '--1',
  '1e',
  'undefined',
  '"0.5"',
  '"NaN"',
  '""',
  'true',
  '[]',
  '[0.5]',
  '[[0.5]]',
  '{}',
  '{"$gt":0}',
  '{"valueOf":1}',
  '{"__proto__":1}',
]
/** Numbers that are not valid quantities. */
const INVALID_QUANTITIES = [
  '1e308',
  '1e309',
  '-1e309',
  '1e-7',
  '0.1234567',
  '0.30000000000000004',
  '-1',
  '-0.01',
  '-1e308',
  '9007199254740993',
  '1000000000.000001',
  '1e21',
  '123456789012345678901234567890',
]
/** Those that a JSON parser reads as infinite. */
const INFINITE = ['1e309', '-1e309']
/** Those that are prices nevertheless: what a client has calculated may have any number of decimals. */
const LONG_DECIMALS = ['1e-7', '0.1234567', '0.30000000000000004']
const INVALID_IDS = [
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '""',
  '"null"',
  '1',
  'null',
  'true',
  '[]',
  '{}',
  `["${P(11)}"]`,
  `"${P(11)} "`,
  `"${P(11)}\\u0000"`,
  `" ${P(11)}"`,
  '"\\ud800"',
  `{"toString":"${P(11)}"}`,
]
const INVALID_DIRECTIONS = [
  '"LONG"',
  '"long "',
  '"long\\u0000"',
  '"__proto__"',
  '"constructor"',
  '1',
  'null',
  '["long"]',
  '{}',
]
const INVALID_KEYS = ['"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"a\\nb"', '""', `"${'k'.repeat(256)}"`, '1', '{}', '[]']
const INVALID_NAMES = [
  '""',
  '" "',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udfff\\ud800"',
  '"a\\u202eb"',
  '1',
  '{}',
  'null',
]

const order = (fields: Record<string, string> = {}): string => quoted({ clientPrice: '200', ...fields })

/** The body of a quote, which has no `clientPrice`. */
const quoted = (fields: Record<string, string> = {}): string => {
  const whole = { instrumentId: `"${P(11)}"`, direction: '"long"', lotSize: '0.5', ...fields }
  return `{${Object.entries(whole)
    .map(([name, value]) => `"${name}":${value}`)
    .join(',')}}`
}

eachDataPlace((settle) => {
  let rig: ServerRig
  let ada: HttpClient
  let position: string
  let before: unknown
  beforeAll(async () => {
    rig = await ServerRig.open(await settle())
    ada = await rig.user('Ada')
    const opened = await ada.opens({ instrumentId: P(12), direction: 'long', lotSize: 0.1, clientPrice: 200 })
    position = opened.position.id
    before = await view()
  })
  // Closing also checks that the server logged no error.
  afterAll(() => rig.close())

  const view = async () => ({
    wallet: await ada.wallet(),
    positions: await ada.positions('all'),
    instruments: await ada.instruments(),
  })

  interface Sent {
    readonly method?: string
    readonly path: string
    readonly body?: string | Uint8Array<ArrayBuffer>
    readonly headers?: Record<string, string>
  }

  async function send({ method = 'POST', path, body, headers = { 'content-type': JSON_TYPE } }: Sent) {
    const cookie = `game_access=${ada.cookie('game_access')}`
    const init = { method, headers: { ...headers, cookie }, ...(body === undefined ? {} : { body }) }
    const response = await fetch(rig.url + path, init)
    return { status: response.status, body: await response.json() }
  }

  const ErrorForm = z.looseObject({ error: z.string().min(1), code: z.string().min(1), requestId: z.uuid() })

  /** Expects refusals in the common error form, with one of these statuses and without effect. */
  async function refuses(all: readonly Sent[], statuses: readonly number[] = [400]): Promise<void> {
    for (const sent of all) {
      const what = `${sent.path} ${String(sent.body).slice(0, 200)} ${JSON.stringify(sent.headers ?? '')}`
      const { status, body } = await send(sent)
      expect(statuses, `${what}: ${status} ${JSON.stringify(body)}`).toContain(status)
      expect(ErrorForm.safeParse(body).error, what).toBeUndefined()
    }
    expect(await view()).toEqual(before)
  }

  const [OPEN, QUOTE] = ['/api/positions/open', '/api/positions/quote']
  const orders = (field: string, values: readonly string[], over: Record<string, string> = {}): Sent[] =>
    values.flatMap((value) => [
      { path: OPEN, body: order({ ...over, [field]: value }) },
      { path: QUOTE, body: quoted({ ...over, [field]: value }) },
    ])

  it('[X7] invalid quantities are refused in every field, and nothing changes', async () => {
    const wrong = [...INVALID_NUMBERS, ...INVALID_QUANTITIES]
    const noSizes = [...INVALID_NUMBERS, ...INFINITE, ...LONG_DECIMALS, 'null']
    await refuses(orders('lotSize', noSizes))
    const outside = INVALID_QUANTITIES.filter((value) => !noSizes.includes(value))
    for (const value of outside) {
      // Beyond 2^53 it is not the number that was sent.
      const status = Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER ? 400 : 422
      await refuses([{ path: OPEN, body: order({ lotSize: value }) }], [status])
    }
    const noPrice = [...wrong, 'null', '0', '-0'].filter((value) => !LONG_DECIMALS.includes(value))
    await refuses(noPrice.map((value) => ({ path: OPEN, body: order({ clientPrice: value }) })))
    const farPrices = LONG_DECIMALS.map((value) => ({ path: OPEN, body: order({ clientPrice: value }) }))
    await refuses(farPrices, [409])
    const path = `/api/positions/${position}`
    const changes = (field: string, values: readonly string[]): Sent[] =>
      values.map((value) => ({ method: 'PATCH', path, body: `{"${field}":${value}}` }))
    const noLevel = wrong.filter((value) => !LONG_DECIMALS.includes(value))
    for (const field of ['stopLoss', 'takeProfit']) {
      await refuses(orders(field, [...noLevel, '0', '-0']))
      await refuses(changes(field, noLevel))
    }
    const onWrongSide = LONG_DECIMALS.flatMap((value) => [
      { path: OPEN, body: order({ takeProfit: value }) },
      { path: OPEN, body: order({ direction: '"short"', stopLoss: value }) },
    ])
    await refuses([...onWrongSide, ...changes('takeProfit', LONG_DECIMALS)], [422])
  })

  it('[X7] the largest and smallest possible quantities meet a rule, not a fault', async () => {
    const opens = (fields: Record<string, string>): Sent => ({ path: OPEN, body: order(fields) })
    await refuses(
      [opens({ lotSize: '1000000000' }), opens({ lotSize: '0.000001' }), opens({ lotSize: '1e-400' })],
      [422],
    )
    await refuses([opens({ clientPrice: '1000000000' }), opens({ clientPrice: '0.000001' })], [409])
    await refuses([opens({ stopLoss: '1000000000' }), opens({ direction: '"short"', takeProfit: '1000000000' })], [422])
    const extremes = ['0', '0.000001', '1000000000', '999999999.999999']
    for (const lotSize of extremes) {
      for (const [direction, level] of ['"long"', '"short"'].flatMap((d) => extremes.slice(1).map((l) => [d, l]))) {
        for (const field of ['stopLoss', 'takeProfit']) {
          const quote = await send({
            path: QUOTE,
            body: order({ lotSize, direction: `${direction}`, [field]: `${level}` }),
          })
          expect(quote.status, `${lotSize} ${direction} ${field} ${level}: ${JSON.stringify(quote.body)}`).toBeLessThan(
            500,
          )
        }
      }
    }
    expect(await view()).toEqual(before)
  })

  it('invalid ids, directions, keys and names are refused', async () => {
    await refuses(orders('instrumentId', INVALID_IDS))
    await refuses(orders('direction', INVALID_DIRECTIONS))
    await refuses([{ path: OPEN, body: order({ instrumentId: `"${UNKNOWN_ID}"` }) }], [404])
    const closing = `/api/positions/${position}/close`
    await refuses(INVALID_KEYS.map((key) => ({ path: closing, body: `{"clientRequestId":${key}}` })))
    await refuses(INVALID_NAMES.map((name) => ({ path: '/api/auth/dev', body: `{"displayName":${name}}` })))
    const headers = (key: string) => ({ 'content-type': JSON_TYPE, 'idempotency-key': key })
    const keys = ['é', '\u00ff', 'a\tb', 'k'.repeat(256)]
    await refuses(keys.map((key) => ({ path: OPEN, body: order(), headers: headers(key) })))
  })

  it('prototype keys in a body set nothing', async () => {
    const inherited = `{"__proto__":${order()},"constructor":{"prototype":${order()}},"toString":1}`
    await refuses([OPEN, QUOTE].map((path) => ({ path, body: inherited })))
    const lacking = `{"instrumentId":"${P(11)}","direction":"long","clientPrice":200,"__proto__":{"lotSize":0.5}}`
    await refuses([OPEN, QUOTE].map((path) => ({ path, body: lacking })))
    expect(Reflect.get({}, 'lotSize')).toBeUndefined()
  })

  it('of a key that occurs twice in a body the last value counts', async () => {
    const twice = (first: string, second: string): Sent => ({
      path: OPEN,
      body: `${order({ lotSize: first }).slice(0, -1)},"lotSize":${second}}`,
    })
    await refuses([twice('0.5', '-1')], [422])
    await refuses([twice('1', '"1"'), twice('0.5', 'null')])
  })

  it('[X8] bodies that are huge, deep, broken or of another type are refused before they are read further', async () => {
    const paths = [OPEN, QUOTE, '/api/auth/dev', `/api/positions/${position}/close`]
    const broken = [
      '{',
      'null',
      '[]',
      '"x"',
      '1',
      'NaN',
      '\ufeff',
      '{"a":}',
      "{'a':1}",
      `${order()}x`,
      '{"a":1}{"b":2}',
    ]
    const deep = ['['.repeat(30_000), '{"a":'.repeat(12_000), `${'['.repeat(30_000)}${']'.repeat(30_000)}`]
    const invalidUtf8 = new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])
    await refuses(paths.flatMap((path) => [...broken, ...deep].map((body) => ({ path, body }))))
    await refuses(paths.slice(0, 3).map((path) => ({ path, body: invalidUtf8 })))
    const deepOrder = `${order().slice(0, -1)},"more":${'['.repeat(20_000)}${']'.repeat(20_000)},"lotSize":-1}`
    await refuses([OPEN, QUOTE].map((path) => ({ path, body: deepOrder })))
    await refuses(
      paths.map((path) => ({ path, body: `"${'x'.repeat(64 * 1_024)}"` })),
      [413],
    )
    await refuses(
      paths.map((path) => ({ path, body: ' '.repeat(2_000_000) })),
      [413],
    )
    await refuses(paths.slice(0, 3).map((path) => ({ path, body: '' })))
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/json',
      'x',
    ]
    const foreign = types.map((type) => ({ 'content-type': type }))
    await refuses(
      paths.flatMap((path) => foreign.map((headers) => ({ path, body: order(), headers }))),
      [415],
    )
  })

  it('invalid paths and queries are 400 or 404', async () => {
    const ids = [
      '%00',
      '%ff',
      '__proto__',
      'constructor',
      'null',
      '1',
      'x'.repeat(5_000),
      '%F0%9F%8E%B2',
      `${P(11)}%00`,
    ]
    const places = ids.flatMap((id) => [
      { method: 'GET', path: `/api/instruments/${id}` },
      { method: 'GET', path: `/api/matches/${id}/trade-window` },
      { method: 'POST', path: `/api/positions/${id}/close`, body: '{}' },
      { method: 'PATCH', path: `/api/positions/${id}`, body: '{}' },
    ])
    await refuses(places, [400, 404])
    const numbers = ['0', '-1', '1e9', '1.5', '4294967296', '99999999999999999999', 'NaN', 'Infinity', '0x1', '%2B1']
    await refuses(
      numbers.map((n) => ({ method: 'GET', path: `/api/matches/${n}/trade-window` })),
      [400, 404],
    )
    const queries = [
      'limit=0',
      'limit=-1',
      'limit=101',
      'limit=NaN',
      'limit=1e308',
      'limit=1.5',
      'limit=',
      'limit=%00',
      'offset=-1',
      'offset=1e308',
      'offset=Infinity',
      'offset=0.5',
      'status=__proto__',
      'status=',
      'status=%00',
    ]
    await refuses(queries.map((query) => ({ method: 'GET', path: `/api/positions?${query}` })))
    const markers = ['-1', '1e3', '0x1', '%00', '', '9999999999999999', 'NaN', '1;drop']
    await refuses(markers.map((marker) => ({ method: 'GET', path: `/api/account/changes?since=${marker}` })))
  })

  it('[X8] a request that is not HTTP is cut off, and the server keeps serving', async () => {
    const { hostname, port } = new URL(rig.url)
    const head = (key: string) =>
      `POST ${OPEN} HTTP/1.1\r\nHost: x\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: 2\r\nIdempotency-Key: ${key}\r\n`
    const streams = [
      `${head('a\0b')}\r\n{}`,
      `${head('a')}Content-Length: 3\r\n\r\n{} `,
      `${head('a')}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `GET /api/me HTTP/9.9\r\n\r\n`,
      `${'A'.repeat(100_000)}\r\n\r\n`,
      `GET /api/me HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`,
      '\0\0\0\0\r\n\r\n',
    ]
    for (const stream of streams) {
      const socket = connect({ host: hostname, port: Number(port) })
      await once(socket, 'connect')
      socket.on('error', () => undefined) // it may be cut off while it still sends
      socket.write(stream)
      const answer = await text(socket).catch(() => '')
      expect(answer, stream.slice(0, 200)).toMatch(/^$|^HTTP\/1\.1 4\d\d /)
    }
    expect(await view()).toEqual(before)
  })
})
