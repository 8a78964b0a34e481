/** The whole program on servers that speak TLS with the certificates of an authority that the machine does not know. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { HttpClient } from '../support/http-client.ts'
import { killRemaining, PATIENCE, Program, type Settings } from '../support/process.ts'
import { hasTlsServers, TlsServers } from '../support/tls-servers.ts'

describe.skipIf(!hasTlsServers)('over TLS', () => {
  let servers: TlsServers

  beforeAll(async () => {
    servers = await TlsServers.start()
  })
  afterEach(killRemaining)
  afterAll(() => servers.stop())

  const addresses = (): Settings => ({
    DATABASE_URL: `${servers.databaseUrl}&sslrootcert=${servers.authority}`,
    REDIS_URL: servers.redisUrl,
    NODE_EXTRA_CA_CERTS: servers.authority,
  })

  /** Why it does not start. */
  async function refusal(settings: Settings): Promise<string> {
    const { code, stderr } = await new Program({ DEMO_REPLAY: 'none', ...addresses(), ...settings }).ended
    expect(code).toBe(1)
    return stderr
  }

  it('[D17] it starts with PostgreSQL and Redis over TLS, with passwords, is ready, and trades', async () => {
    const program = new Program({ ...addresses(), DEMO_TRADERS: '2' })
    const { url } = await program.listening
    const ready = await fetch(`${url}/ready`)
    const checks = { database: 'ok', fastStore: 'ok', bus: 'ok' }
    expect([ready.status, await ready.json()]).toMatchObject([200, { checks }])
    const user = await HttpClient.of(url, 'Ann')
    await vi.waitUntil(async () => {
      const player = (await user.instruments()).find(({ tradingStatus }) => tradingStatus === 'OPEN')
      if (player === undefined) return false
      const { id: instrumentId, currentPrice: clientPrice } = player
      return (await user.open({ instrumentId, direction: 'long', lotSize: 0.1, clientPrice })).status === 201
    }, PATIENCE)
  })

  it('[D17] a certificate of an unknown authority stops the start: one line names the server and the remedy', async () => {
    const remedy = /^Touchline cannot start: .*certificate.*; name the PEM file of its authority .*CA_CERTS.*\n$/
    const unknown = { NODE_EXTRA_CA_CERTS: '' }
    expect(await refusal({ ...unknown, DATABASE_URL: servers.databaseUrl })).toMatch(remedy)
    const redis = await refusal(unknown)
    expect(redis).toMatch(remedy)
    expect(redis).toContain(`Redis at ${new URL(servers.redisUrl).host} `)
  })

  it('[D17] so do a certificate for another name, and a wrong password', async () => {
    const elsewhere = { DATABASE_URL: servers.databaseUrl.replace('localhost', '127.0.0.1') }
    expect(await refusal(elsewhere)).toMatch(/^Touchline cannot start: .*127\.0\.0\.1.*; use a name .*\n$/)
    const redis = { REDIS_URL: servers.redisUrl.replace('p%40ss', 'guess') }
    expect(await refusal(redis)).toMatch(/^Touchline cannot start: Redis at .*WRONGPASS.*REDIS_URL.*\n$/)
  })
})
