import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { sessionId, userId } from '../../actors/kernel/ids.ts'
import { bareEnvironment } from '../../ops/rehearse/rig/bare-environment.ts'
import { loadOrCreateKeys, newPrivateKeyPem, publicKeyOf } from '../../src/auth/keys.ts'
import { createTokens, type Tokens } from '../../src/auth/tokens.ts'
import { systemWorld } from '../../src/system-world.ts'
import { ConfigError, readConfig } from '../../src/config.ts'
import { Secret } from '../../src/secret.ts'
import { VARIABLES } from '../../src/variables.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const pem = await newPrivateKeyPem()
const secret = 'yx3yv1mXo0cQf8WJt5bH7kL2nP9rS4uZ'
const production = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://db/touchline',
  JWT_PRIVATE_KEY: pem,
  REG_TICKET_SECRET: secret,
  IDP_CLIENT_ID: 'touchline.apps.example',
  PUBLIC_WS_URL: 'wss://live.touchline.example',
  SMTP_URL: 'smtps://mail.example',
}

/** The problems of an environment. */
function wrong(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.lines
    throw error
  }
  return []
}

/** What keygen prints in this environment. */
function keygen(options: readonly string[], env: Record<string, string>, cwd = tmpdir()): string {
  const tool = join(import.meta.dirname, '../../ops/tools/keygen.ts')
  const { stdout, stderr } = spawnSync(process.execPath, [tool, ...options], {
    cwd,
    encoding: 'utf8',
    env: { ...bareEnvironment(), ...env },
  })
  expect(stderr).toBe('')
  return stdout
}

const variablesIn = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^(\w+)=(?:"([^"\n]*)"|'([^'\n]*)'|(.*))$/gm)].map(valueIn))
const valueIn = ([, name = '', ...values]: readonly (string | undefined)[]): [string, string] => [
  name,
  values.find((value) => value !== undefined) ?? '',
]

describe('configuration', () => {
  it('an empty environment is a complete embedded development server', () => {
    expect(readConfig({})).toEqual({
      production: false,
      host: '127.0.0.1',
      port: 3000,
      wsPort: 3001,
      databaseUrl: null,
      databaseReplicaUrl: null,
      isDatabasePrepared: true,
      redisUrl: null,
      bus: { key: null, otherKey: null },
      dataDir: '.data',
      roles: ['api', 'rooms'],
      publicWsUrl: null,
      jwt: { privateKeyPem: null, keyId: null, publicKeys: [], accessSecs: 900, refreshSecs: 604_800, wsSecs: 60 },
      identity: {
        clientId: 'dev-client',
        issuer: 'https://accounts.google.com',
        authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
        keysUrl: 'https://www.googleapis.com/oauth2/v3/certs',
      },
      ticket: { secret: null, ttlSecs: 300 },
      mail: { smtpUrl: null, from: 'Touchline <no-reply@touchline.invalid>' },
      cookies: { domain: null, prefix: '' },
      corsOrigins: [],
      adminEmails: [],
      limits: { perMinute: 200, siteFactor: 0, trustedProxies: 0 },
      securityContact: null,
      logLevel: 'info',
      drainMs: 0,
      metrics: 'private',
      webhookTargets: 'any',
      tracing: null,
      provider: null,
      demo: { replay: 'goal-feast', speed: 1, traders: 20 },
    })
  })

  it('an empty value counts as unset', () => {
    const names = ['PORT', 'DATABASE_URL', 'JWT_PRIVATE_KEY', 'CORS_ORIGINS', 'LOG_LEVEL', 'HOST', 'DEMO_REPLAY']
    expect(readConfig(Object.fromEntries(names.map((name) => [name, ''])))).toEqual(readConfig({}))
  })

  it('every variable is read in its own unit', () => {
    const config = readConfig({
      ...production,
      PORT: '0',
      WS_PORT: '65535',
      REDIS_URL: 'rediss://cache:6380/1',
      DATABASE_REPLICA_URL: 'postgres://user:hush@standby/touchline',
      DATABASE_PREPARED: 'off',
      BUS_KEY: secret,
      ROLES: 'rooms',
      PUBLIC_WS_URL: 'wss://live.touchline.example/',
      ADMIN_EMAILS: 'Ops@touchline.example, ada@synthetic.invalid',
      JWT_KEY_ID: '2026-05',
      JWT_ACCESS_EXPIRY: '90s',
      JWT_REFRESH_EXPIRY: '30d',
      JWT_WS_EXPIRY: '2m',
      IDP_ISSUER: 'https://id.example',
      IDP_AUTHORIZE_URL: 'https://id.example/authorize',
      IDP_JWKS_URL: 'https://id.example/keys',
      REG_TICKET_TTL: '10m',
      SMTP_URL: 'smtps://user:hush@mail.example',
      MAIL_FROM: 'play@touchline.example',
      COOKIE_DOMAIN: '.touchline.example',
      CORS_ORIGINS: 'https://play.touchline.example, http://localhost:5173,',
      TRUSTED_PROXIES: '2',
      RATE_LIMIT_PER_MIN: '0',
      SECURITY_CONTACT: 'mailto:security@touchline.example',
      LOG_LEVEL: 'debug',
      METRICS: 'open',
      WEBHOOK_TARGETS: 'any',
      PROVIDER_URL: 'https://feed.example/v3/football',
      PROVIDER_TOKEN: 'secret-token',
      PROVIDER_POLL_MS: '6000',
      DRAIN_SECS: '4',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
      OTEL_SERVICE_NAME: 'touchline-eu',
      OTEL_TRACES_SAMPLER_ARG: '0.05',
      DEMO_REPLAY: 'derby',
      DEMO_SPEED: '120',
      DEMO_TRADERS: '0',
    })
    expect(config).toEqual({
      production: true,
      host: '0.0.0.0',
      port: 0,
      wsPort: 65_535,
      databaseUrl: expect.any(Secret),
      databaseReplicaUrl: expect.any(Secret),
      isDatabasePrepared: false,
      redisUrl: expect.any(Secret),
      bus: { key: expect.any(Secret), otherKey: null },
      dataDir: '.data',
      roles: ['rooms'],
      publicWsUrl: 'wss://live.touchline.example',
      jwt: {
        privateKeyPem: expect.any(Secret),
        keyId: '2026-05',
        publicKeys: [],
        accessSecs: 90,
        refreshSecs: 2_592_000,
        wsSecs: 120,
      },
      identity: {
        clientId: 'touchline.apps.example',
        issuer: 'https://id.example',
        authorizeUrl: 'https://id.example/authorize',
        keysUrl: 'https://id.example/keys',
      },
      ticket: { secret: expect.any(Secret), ttlSecs: 600 },
      mail: { smtpUrl: expect.any(Secret), from: 'play@touchline.example' },
      cookies: { domain: '.touchline.example', prefix: '' },
      adminEmails: ['ops@touchline.example', 'ada@synthetic.invalid'],
      corsOrigins: ['https://play.touchline.example', 'http://localhost:5173'],
      limits: { perMinute: 0, siteFactor: 0, trustedProxies: 2 },
      securityContact: 'mailto:security@touchline.example',
      logLevel: 'debug',
      drainMs: 4_000,
      webhookTargets: 'any',
      metrics: 'open',
      tracing: { endpoint: 'http://collector:4318', serviceName: 'touchline-eu', share: 0.05 },
      provider: { url: 'https://feed.example/v3/football', token: expect.any(Secret), pollMs: 6_000 },
      demo: { replay: 'derby', speed: 120, traders: 0 },
    })
    const { databaseUrl, redisUrl, jwt, ticket, mail, provider } = config
    const secrets = [databaseUrl, redisUrl, jwt.privateKeyPem, ticket.secret, mail.smtpUrl, provider?.token]
    const texts = ['postgres://db/touchline', 'rediss://cache:6380/1', pem, secret, 'smtps://user:hush@mail.example']
    expect(secrets.map((each) => each?.reveal())).toEqual([...texts, 'secret-token'])
    const printed = [inspect(secrets), JSON.stringify(secrets), String(secrets), inspect(config)].join()
    for (const text of [...texts, 'secret-token']) expect(printed).not.toContain(text)
  })

  it('all problems are reported at once, by name, without repeating secrets', () => {
    const lines = wrong({
      NODE_ENV: 'production',
      PORT: '70000',
      WS_PORT: '3001x',
      REDIS_URL: 'http://user:hush@cache',
      PUBLIC_WS_URL: 'https://live.touchline.example',
      JWT_PRIVATE_KEY: 'hush',
      JWT_ACCESS_EXPIRY: '15',
      JWT_WS_EXPIRY: '0s',
      CORS_ORIGINS: 'https://play.touchline.example/,*',
      REG_TICKET_SECRET: 'hush',
      IDP_CLIENT_ID: 'dev-client',
      IDP_ISSUER: 'accounts.example',
      IDP_JWKS_URL: 'file:///etc/passwd',
      SMTP_URL: 'http://mail.example',
      MAIL_FROM: 'a@b>\r\nBcc: c@d',
      COOKIE_DOMAIN: 'a b',
      TRUSTED_PROXIES: '10.0.0.1',
      RATE_LIMIT_PER_MIN: '-1',
      SECURITY_CONTACT: 'mailto:a@b\r\nContact: c',
      LOG_LEVEL: 'loud',
      METRICS: 'public',
      DEMO_SPEED: '121',
    })
    expect(lines).toEqual([
      'DATABASE_URL: is required in production',
      'BUS_KEY: is required with REDIS_URL in production',
      'PORT: must be a whole number from 0 to 65535',
      'WS_PORT: must be a whole number from 0 to 65535',
      'REDIS_URL: must be redis://host:6379, redis+sentinel://host:26379,host:26379/master/0 or redis+cluster://host:6379,host:6379',
      'PUBLIC_WS_URL: must be a ws:// or wss:// address',
      'JWT_PRIVATE_KEY: must be an RSA private key of at least 2048 bits in PKCS8 PEM form',
      'JWT_ACCESS_EXPIRY: must be a duration such as 60s, 15m, 168h or 7d',
      'JWT_WS_EXPIRY: must be a duration such as 60s, 15m, 168h or 7d',
      'REG_TICKET_SECRET: must be at least 32 characters that cannot be guessed',
      'IDP_ISSUER: must be an http:// or https:// address',
      'IDP_JWKS_URL: must be an http:// or https:// address',
      'SMTP_URL: must be an smtp:// or smtps:// address',
      'MAIL_FROM: must be an address, or a name with an address in <>',
      'COOKIE_DOMAIN: must be a domain name',
      'CORS_ORIGINS: must be origins such as https://play.example, without a path, separated by commas',
      'TRUSTED_PROXIES: must be a whole number from 0 to 16',
      'RATE_LIMIT_PER_MIN: must be a whole number from 0 to 1000000',
      'SECURITY_CONTACT: must be a mailto: or https:// address',
      'LOG_LEVEL: must be one of debug, info, warn, error, silent',
      'METRICS: must be one of off, private, open',
      'DEMO_SPEED: must be a whole number from 1 to 120',
      'IDP_CLIENT_ID: must be your own in production, not dev-client',
    ])
    for (const origin of [
      '*',
      'https://play.example/',
      'https://play.example/game',
      'play.example',
      'ftp://play.example',
    ]) {
      expect(wrong({ CORS_ORIGINS: origin }), origin).toHaveLength(1)
    }
    expect(wrong({ NODE_ENV: 'prod' })).toEqual(['NODE_ENV: must be one of development, test, production'])
  })

  it('a single role requires the shared stores, and the two addresses need different ports', () => {
    const demanded = ['DATABASE_URL', 'REDIS_URL'].map((name) => `${name}: is required with one of the ROLES alone`)
    for (const ROLES of ['api', 'rooms', 'api,api']) expect(wrong({ ROLES }), ROLES).toEqual(demanded)
    expect(wrong({ ...production, ROLES: 'api' })).toEqual(demanded.slice(1))
    expect(wrong({ ROLES: 'rooms,api' })).toEqual([])
    for (const ports of [{ PORT: '3001' }, { WS_PORT: '3000' }, { PORT: '80', WS_PORT: '80' }]) {
      expect(wrong(ports)).toEqual(['WS_PORT: must differ from PORT'])
    }
    expect(wrong({ PORT: '0', WS_PORT: '0' })).toEqual([])
  })

  it('production on Redis signs the messages between processes', () => {
    const redis = { ...production, REDIS_URL: 'redis://redis:6379' }
    expect(wrong(redis)).toEqual(['BUS_KEY: is required with REDIS_URL in production'])
    expect(wrong({ ...redis, BUS_KEY: 'weak' })).toHaveLength(1)
    expect(wrong({ ...redis, BUS_KEY: secret, BUS_OTHER_KEY: secret })).toEqual([])
    expect(wrong({ REDIS_URL: 'redis://redis:6379' })).toEqual([])
    for (const REDIS_URL of [
      'redis+sentinel://:hush@a:26379,b:26379/match/0',
      'redis+cluster://a',
      'rediss+cluster://user:h%40sh@a:6379,b.example:6380,[::1]:6381',
    ]) {
      expect(wrong({ REDIS_URL }), REDIS_URL).toEqual([])
    }
    for (const REDIS_URL of [
      'redis+cluster://',
      'redis+cluster://a,',
      'redis+cluster://a,,b',
      'redis+cluster://a:port',
      'redis+cluster://a:6379/1',
      'redis+cluster://a:6379?db=1',
      'redis+cluster://redis://a:6379',
      'redis+cluster://hush@a@b',
      'redis+sentinel://a:26379',
      'redis+sentinel://a,,b/match/0',
      'redis+sentinel://a/match/x',
      'redis+sentinel://:50%off@a:26379/match',
      'redis+cluster://:50%off@a:6379',
    ]) {
      expect(wrong({ REDIS_URL }), REDIS_URL).toHaveLength(1)
    }
  })

  it('production uses no defaults for secrets and addresses: every missing variable is named', () => {
    expect(wrong({ NODE_ENV: 'production' })).toEqual([
      'DATABASE_URL: is required in production',
      'PUBLIC_WS_URL: is required in production',
      'JWT_PRIVATE_KEY: is required in production',
      'REG_TICKET_SECRET: is required in production',
      'IDP_CLIENT_ID: is required in production',
      'SMTP_URL: is required in production',
    ])
    expect(wrong(production)).toEqual([])
    for (const weak of ['x'.repeat(64), '12345678'.repeat(8), 'short but mixed: 1aB_']) {
      expect(wrong({ ...production, REG_TICKET_SECRET: weak })).toHaveLength(1)
    }
    expect(readConfig(production)).toMatchObject({ host: '0.0.0.0', demo: { replay: null } })
  })

  it('production refuses an identity provider without TLS, unless it is on this machine', () => {
    for (const name of ['IDP_ISSUER', 'IDP_AUTHORIZE_URL', 'IDP_JWKS_URL']) {
      for (const url of ['http://accounts.example', 'http://127.0.0.1.evil.example/keys', 'HTTP://localhost.example']) {
        expect(wrong({ ...production, [name]: url }), url).toEqual([`${name}: must be https in production`])
      }
      for (const url of [
        'https://accounts.example',
        'http://127.0.0.1:9000/keys',
        'http://localhost',
        'http://[::1]:1',
      ]) {
        expect(wrong({ ...production, [name]: url }), url).toEqual([])
      }
      expect(wrong({ [name]: 'http://accounts.example' })).toEqual([])
    }
  })

  it('other public keys are a JWKS document without private parts', async () => {
    const { keyId, ...keys } = await loadOrCreateKeys({ dataDir: '', privateKeyPem: pem, keyId: null })
    const key = await publicKeyOf({ ...keys, keyId })
    const set = (...all: object[]) => JSON.stringify({ keys: all })
    for (const text of [set(key), `'${set(key)}'`]) {
      expect(readConfig({ JWT_PREVIOUS_PUBLIC_KEYS: text }).jwt.publicKeys).toEqual([key])
    }
    const whole = { ...key, ...createPrivateKey(pem).export({ format: 'jwk' }) }
    const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey.export({ format: 'jwk' })
    const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
    const { kid: _kid, ...nameless } = key
    const bad = ['x', '{}', set(whole), set({ ...weak, kid: 'weak' }), set({ ...curve, kid: 'curve' }), set(nameless)]
    for (const text of [...bad, set(...Array.from({ length: 11 }, () => key))]) {
      expect(wrong({ JWT_PREVIOUS_PUBLIC_KEYS: text }), text).toHaveLength(1)
    }
  })

  it('keygen --rotate prints both steps, and tokens of either key count in both', async () => {
    const world = systemWorld()
    const lifetimes = { accessSecs: 60, refreshSecs: 60, wsSecs: 60 }
    const bearer = { userId: userId('ada'), sid: sessionId('s') }
    const env = { JWT_PRIVATE_KEY: pem, JWT_KEY_ID: 'now' }
    const printed = keygen(['--rotate'], env)
    const [first = '', second = ''] = printed.split('# 2.')
    const tokensOf = async (settings: Record<string, string>) => {
      const { jwt } = readConfig(settings)
      const privateKeyPem = present(jwt.privateKeyPem, 'key').reveal()
      return createTokens({ keys: await loadOrCreateKeys({ ...jwt, dataDir: '', privateKeyPem }), lifetimes, world })
    }
    const steps = [env, { ...env, ...variablesIn(first) }, { ...env, ...variablesIn(second) }]
    const [before, during, after] = await Promise.all(steps.map(tokensOf))
    const accepts = async (verifier: Tokens | undefined, issuer: Tokens | undefined) =>
      (await verifier?.verifyWs((await issuer?.issueWs(bearer)) ?? '')) !== null
    expect([await accepts(before, during), await accepts(during, before)]).toEqual([true, true])
    expect([await accepts(during, after), await accepts(after, during)]).toEqual([true, true])
    expect(await accepts(after, before)).toBe(true)
    expect(await accepts(before, after)).toBe(false) // which is why there are two steps
  })

  it('[S24] a prefix that browsers would refuse is refused', () => {
    const line = 'COOKIE_PREFIX: needs production, and no COOKIE_DOMAIN'
    expect(wrong({ COOKIE_PREFIX: '__Host-' })).toContain(line)
    expect(wrong({ ...production, COOKIE_PREFIX: '__Host-', COOKIE_DOMAIN: 'touchline.example' })).toContain(line)
    expect(readConfig({ ...production, COOKIE_PREFIX: '__Host-' }).cookies.prefix).toBe('__Host-')
  })

  it('docs/configuration.md lists the variables as they are declared', async () => {
    const items = VARIABLES.map(
      ({ name, default: byDefault, otherwise, meaning, isSecret, isRequiredInProduction }) => {
        const marks = [
          ...(isRequiredInProduction === true ? ['; **required in production**'] : []),
          ...(isSecret === true ? ['; **secret**'] : []),
        ]
        const without = byDefault === null || byDefault === '' ? otherwise : `\`${byDefault}\``
        return `- \`${name}\`${without === undefined ? '' : ` (${without})`}: ${meaning}${marks.join('')}`
      },
    )
    const document = await readFile(join(import.meta.dirname, '../../docs/configuration.md'), 'utf8')
    const list = document.slice(document.indexOf('\n- ') + 1)
    expect(list.slice(0, list.indexOf('\n\n')).replaceAll('\n  ', ' ')).toBe(items.join('\n'))
  })

  it("DEMO_REPLAY 'none' plays no recording", () => {
    expect(readConfig({ DEMO_REPLAY: 'none' }).demo.replay).toBeNull()
  })

  it('a key may be on one line, quoted or not, and must be a strong RSA key', () => {
    const oneLine = pem.replaceAll('\n', '\\n')
    expect(readConfig({ JWT_PRIVATE_KEY: oneLine }).jwt.privateKeyPem?.reveal()).toBe(pem)
    expect(readConfig({ JWT_PRIVATE_KEY: `"${oneLine}"` }).jwt.privateKeyPem?.reveal()).toBe(pem)
    const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey
    const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    for (const key of [weak, curve]) {
      const JWT_PRIVATE_KEY = key.export({ type: 'pkcs8', format: 'pem' }).toString()
      expect(wrong({ JWT_PRIVATE_KEY })).toHaveLength(1)
    }
  })

  it('the configuration cannot be changed', () => {
    const config = readConfig({ CORS_ORIGINS: 'http://localhost:5173' })
    for (const part of [
      config,
      config.jwt,
      config.limits,
      config.identity,
      config.ticket,
      config.mail,
      config.corsOrigins,
      config.demo,
    ]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
  })

  it('keygen prints an environment that production accepts', async () => {
    const folder = scratchFolder()
    const env = variablesIn(keygen([], {}, folder))
    const { jwt } = readConfig({ ...production, ...env })
    const keys = await loadOrCreateKeys({
      dataDir: folder,
      privateKeyPem: present(jwt.privateKeyPem, 'key').reveal(),
      keyId: null,
    })
    expect(keys.keyId).toBe(jwt.keyId)
  })
})
