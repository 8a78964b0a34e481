import { beforeAll, describe, expect, it } from 'vitest'
import type { OpenApi } from '../../ops/rehearse/fuzz/judge.ts'
import { apiBreaks } from './api-breaks.ts'
import { readReleased, served } from './released.ts'

/** A document that a test may change. */
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

let now: OpenApi
beforeAll(async () => {
  now = await served()
})

/** What a change of today's description breaks. */
function afterChange(change: (document: Loose) => void): readonly string[] {
  const changed = structuredClone(now) as Loose
  change(changed)
  return apiBreaks(now, changed)
}

const OPEN = '/api/positions/open'
const bodyOf = (document: Loose) => document.paths[OPEN].post.requestBody.content['application/json'].schema
const schemasOf = (document: Loose) => document.components.schemas
const parametersOf = (document: Loose): Loose[] => document.paths['/api/positions'].get.parameters

describe('clients of the last release', () => {
  it('[H28] find all that they were promised', async () => {
    expect(apiBreaks(await readReleased(), now)).toEqual([])
  })

  it.each<[name: string, change: (document: Loose) => void, found: RegExp]>([
    ['a removed path', (d) => delete d.paths['/api/wallet'], /^GET \/api\/wallet: the operation is gone$/],
    ['a removed method', (d) => delete d.paths['/api/me'].patch, /^PATCH \/api\/me: the operation is gone$/],
    [
      'another operationId',
      (d) => (d.paths['/api/wallet'].get.operationId = 'x'),
      /the operationId getWallet is now x/,
    ],
    [
      'a stricter key',
      (d) => d.paths['/api/wallet'].get.security.pop(),
      /\/api\/wallet: no longer open with .*personalKey/,
    ],
    ['a removed field of an answer', (d) => delete schemasOf(d).Wallet.properties.equity, /Wallet\.equity: is gone$/],
    [
      'a field retyped',
      (d) => (schemasOf(d).Wallet.properties.equity.type = 'string'),
      /equity: the type number is now string/,
    ],
    [
      'a field that may be null now',
      (d) => (schemasOf(d).Wallet.properties.equity.type = ['number', 'null']),
      /number or null/,
    ],
    [
      'an optional field',
      (d) => schemasOf(d).Wallet.required.splice(schemasOf(d).Wallet.required.indexOf('equity'), 1),
      /answer schema Wallet\.equity: is now optional/,
    ],
    [
      'another format',
      (d) => delete schemasOf(d).Position.properties.openedAt.format,
      /openedAt: the format date-time/,
    ],
    [
      'a field in an item of a list',
      (d) => delete schemasOf(d).Position.properties.closedBy,
      /Position\.closedBy: is gone/,
    ],
    ['a status', (d) => delete d.paths[OPEN].post.responses['201'], /open 201: is no longer answered/],
    ['a required field of a request', (d) => bodyOf(d).required.push('stopLoss'), /body\.stopLoss: is now required/],
    ['a new required field', (d) => addRequired(bodyOf(d)), /open body\.leverage: is new and required/],
    ['a field that is refused now', (d) => delete bodyOf(d).properties.stopLoss, /open body\.stopLoss: is gone/],
    ['a narrower enum', (d) => bodyOf(d).properties.direction.enum.pop(), /body\.direction: no longer has "short"/],
    [
      'a narrower type',
      (d) => (bodyOf(d).properties.lotSize.type = 'integer'),
      /lotSize: the type number is now integer/,
    ],
    ['a narrower bound', (d) => (bodyOf(d).properties.lotSize.maximum = 3), /lotSize: maximum was .+ and is 3/],
    ['a removed parameter', (d) => parametersOf(d).shift(), /\/api\/positions query parameter \w+: is gone/],
    ['a required parameter', (d) => (parametersOf(d)[0].required = true), /query parameter \w+: is now required/],
    ['an error code', (d) => delete schemasOf(d).Error.discriminator.mapping.BUSY, /^error BUSY: is gone$/],
    [
      'a fact of an error',
      (d) => delete schemasOf(d).PriceMovedError.properties.currentPrice,
      /PriceMovedError\.currentPrice/,
    ],
  ])('[H28] %s is named', (_name, change, found) => {
    const breaks = afterChange(change)
    expect(breaks.length).toBeGreaterThan(0)
    for (const line of breaks) expect(line).toMatch(found)
  })

  it('[H28] what is added breaks nobody', () => {
    const breaks = afterChange((document) => {
      document.paths['/api/new'] = document.paths['/api/wallet']
      schemasOf(document).Wallet.properties.interest = { type: 'number' }
      schemasOf(document).Wallet.required.push('interest')
      schemasOf(document).Position.properties.closedBy.enum.push('expiry')
      bodyOf(document).properties.note = { type: 'string' }
      bodyOf(document).properties.direction.enum.push('flat')
      parametersOf(document).push({ name: 'sort', in: 'query', schema: { type: 'string' } })
      document.paths[OPEN].post.responses['418'] = document.paths[OPEN].post.responses['409']
    })
    expect(breaks).toEqual([])
  })
})

function addRequired(body: Loose): void {
  body.properties.leverage = { type: 'number' }
  body.required.push('leverage')
}
