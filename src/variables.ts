/**
 * The environment variables, each declared once: how it is read, its default, and its line in `docs/configuration.md`.
 */
import { createPrivateKey } from 'node:crypto'
import { z } from 'zod'
import { present } from '../actors/kernel/assert.ts'
import { LOG_LEVELS } from './observe/log.ts'
import { publicKeysFrom } from './auth/keys.ts'
import { Secret } from './secret.ts'

export type Role = 'api' | 'rooms'
export const ROLES: readonly Role[] = ['api', 'rooms']
export const isRole = (text: string): text is Role => ROLES.some((role) => role === text)

const METRICS_ACCESS = ['off', 'private', 'open'] as const
export type MetricsAccess = (typeof METRICS_ACCESS)[number]

const WEBHOOK_TARGETS = ['public', 'any'] as const
export type WebhookTargets = (typeof WEBHOOK_TARGETS)[number]

const SECONDS_PER = { s: 1, m: 60, h: 3_600, d: 86_400 } as const
interface About {
  readonly meaning: string
  /** The default in words, where it depends on other variables. */
  readonly otherwise?: string
  /** Belongs into a secret store, and never into a log. */
  readonly isSecret?: true
  /** A production server would otherwise invent a secret, an empty database or a client of its own. */
  readonly isRequiredInProduction?: true
}

/** A variable: its meaning and defaults, and how it is read. */
interface Declaration extends About {
  readonly default: string | null
}

const declarations = z.registry<Declaration>()

/** A variable with a default, in the form in which it would be set. */
function variable<Out>(schema: z.ZodType<Out, string>, byDefault: string, about: About) {
  return schema.prefault(byDefault).register(declarations, { ...about, default: byDefault })
}

/** A variable that may be left out; then its value is null. */
function optional(isValid: (text: string) => boolean, error: string, about: About) {
  return z
    .string()
    .refine(isValid, { error })
    .optional()
    .transform((text) => text ?? null)
    .register(declarations, { ...about, default: null })
}

/** An optional variable that is read as a secret. */
function optionalSecret(isValid: (text: string) => boolean, error: string, about: Omit<About, 'isSecret'>) {
  return z
    .string()
    .refine(isValid, { error })
    .optional()
    .transform((text) => (text === undefined ? null : new Secret(text)))
    .register(declarations, { ...about, isSecret: true, default: null })
}

const integer = (min: number, max: number) =>
  z
    .string()
    .refine((text) => /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max, {
      error: `must be a whole number from ${min} to ${max}`,
    })
    .transform(Number)

const durationSecs = z
  .string()
  .regex(/^[1-9]\d{0,5}[smhd]$/, 'must be a duration such as 60s, 15m, 168h or 7d')
  .transform((text) => {
    const unit = z.enum(['s', 'm', 'h', 'd']).parse(text.slice(-1))
    return Number(text.slice(0, -1)) * SECONDS_PER[unit]
  })

const oneOf = <Value extends string>(values: readonly Value[]) =>
  z.string().pipe(z.enum(values, { error: `must be one of ${values.join(', ')}` }))

const list = (isItem: (item: string) => boolean, error: string) =>
  z
    .string()
    .transform((text) => text.split(',').map((item) => item.trim()))
    .transform((items) => items.filter((item) => item !== ''))
    .refine((items) => items.every(isItem), { error })

const hasScheme = (text: string, schemes: readonly string[]): boolean =>
  URL.canParse(text) && schemes.includes(new URL(text).protocol)

const isWebAddress = (text: string): boolean => hasScheme(text, ['http:', 'https:'])
const NO_WEB_ADDRESS = 'must be an http:// or https:// address'
const webAddress = z.string().refine(isWebAddress, { error: NO_WEB_ADDRESS })

/** One server, or a list of Sentinels and the name of a master. */
const SENTINELS = /^rediss?\+sentinel:\/\/[^/?,]+(,[^/?,]+)*\/[^/?]+(\/\d+)?(\?sentinelPassword=[^&]+)?$/
/** Some nodes of a cluster, which has no numbered databases. */
const NODE = String.raw`(?:\[[0-9a-fA-F:.]+\]|[^\s:/?#@,[\]]+)(?::\d{1,5})?`
const CLUSTER = new RegExp(`^rediss?\\+cluster://(?:[^@/?#]*@)?${NODE}(?:,${NODE})*$`)
const isRedisAddress = (text: string): boolean =>
  isDecodable(text) && (SENTINELS.test(text) || CLUSTER.test(text) || hasScheme(text, ['redis:', 'rediss:']))

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

const NO_REDIS_ADDRESS =
  'must be redis://host:6379, redis+sentinel://host:26379,host:26379/master/0 or redis+cluster://host:6379,host:6379'

const isOrigin = (text: string): boolean => isWebAddress(text) && new URL(text).origin === text

/** Programs that read a file of variables for a container or a Secret keep the quotes that a `.env` needs. */
export const unquoted = (text: string): string => text.replace(/^'(.*)'$/s, '$1')

/**
 * The key as PEM. A one-line environment cannot hold a line feed, so `\n` is read as one; quotes may have been kept.
 */
export const pemText = (text: string): string => text.replace(/^"(.*)"$/s, '$1').replaceAll('\\n', '\n')

function isRsaKey(text: string): boolean {
  try {
    const key = createPrivateKey(pemText(text))
    return key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2_048
  } catch {
    return false
  }
}

export const DEV_CLIENT_ID = 'dev-client'
const DEV_SENDER = 'Touchline <no-reply@touchline.invalid>'
const MAIL_SENDER = /^(?:[^<>@\r\n]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/

/** As long as the digest that it keys, and not one character over and over. */
const isStrongSecret = (text: string): boolean => text.length >= 32 && new Set(text).size >= 10

export const Environment = z.object({
  NODE_ENV: variable(oneOf(['development', 'test', 'production']), 'development', {
    meaning: '`production` removes the dev routes, makes cookies cross-site, and requires the marked variables',
  }),
  HOST: z.string().optional().register(declarations, {
    default: null,
    otherwise: '127.0.0.1, in production 0.0.0.0',
    meaning: 'the address to listen on',
  }),
  PORT: variable(integer(0, 65_535), '3000', { meaning: 'port of the REST API and the page' }),
  WS_PORT: variable(integer(0, 65_535), '3001', { meaning: 'port of the price feed and the match rooms' }),
  DATABASE_URL: optionalSecret((url) => hasScheme(url, ['postgres:', 'postgresql:']), 'must be a postgres:// address', {
    otherwise: 'the embedded database in `DATA_DIR`',
    meaning: 'PostgreSQL, 15 or newer',
    isRequiredInProduction: true,
  }),
  DATABASE_PREPARED: variable(oneOf(['on', 'off']), 'on', {
    meaning:
      '`off` behind a pooler in transaction mode, such as PgBouncer; ' +
      'silent connections then end only by the query timeout',
  }),
  DATABASE_REPLICA_URL: optionalSecret(
    (url) => hasScheme(url, ['postgres:', 'postgresql:']),
    'must be a postgres:// address',
    {
      otherwise: 'the primary answers every read',
      meaning: 'a streaming standby of it, for reads that may be seconds old (operations.md); requires `DATABASE_URL`',
    },
  ),
  REDIS_URL: optionalSecret(isRedisAddress, NO_REDIS_ADDRESS, {
    otherwise: 'an in-process store',
    meaning:
      'Redis, 6.2 or newer. Sentinels: ' +
      '`redis+sentinel://host:26379,host:26379/master/0`; a cluster, 7.0 or newer: ' +
      '`redis+cluster://host:6379,host:6379` with any of its nodes; `rediss` encrypts',
  }),
  BUS_KEY: optionalSecret(isStrongSecret, 'must be at least 32 characters that cannot be guessed', {
    otherwise: 'messages are not signed',
    meaning: 'signs the messages between processes, the same for all of them; required with `REDIS_URL` in production',
  }),
  BUS_OTHER_KEY: optionalSecret(isStrongSecret, 'must be at least 32 characters that cannot be guessed', {
    otherwise: 'none',
    meaning: 'the next or the former key, also accepted while `BUS_KEY` is being replaced',
  }),
  DATA_DIR: variable(z.string(), '.data', { meaning: 'folder of the embedded database and of generated keys' }),
  ROLES: variable(list(isRole, 'must be api, rooms or both, separated by a comma'), ROLES.join(','), {
    meaning:
      '`api` serves REST and the price feed, `rooms` runs matches and replays; one alone requires ' +
      '`DATABASE_URL` and `REDIS_URL`',
  }),
  PUBLIC_WS_URL: optional((url) => hasScheme(url, ['ws:', 'wss:']), 'must be a ws:// or wss:// address', {
    otherwise: 'the host that was called, at `WS_PORT`',
    meaning: 'the WebSocket address given to clients',
    isRequiredInProduction: true,
  }),
  JWT_PRIVATE_KEY: optionalSecret(isRsaKey, 'must be an RSA private key of at least 2048 bits in PKCS8 PEM form', {
    otherwise: 'generated in `DATA_DIR`',
    meaning: 'signs tokens (RS256); makes the key that signs tapes',
    isRequiredInProduction: true,
  }),
  JWT_KEY_ID: optional((id) => /^[\w.-]{1,100}$/.test(id), 'must be 1 to 100 letters, digits, dots, _ or -', {
    otherwise: "the thumbprint of the key's public half",
    meaning: 'names the key in every token',
  }),
  JWT_PREVIOUS_PUBLIC_KEYS: optional(
    (text) => publicKeysFrom(unquoted(text)) !== null,
    'must be a JWKS document of at most ten public RSA keys, each with its `kid`',
    {
      otherwise: 'none',
      meaning:
        'other keys whose tokens count, in one line of JSON: former ones, and the next before a rotation; ' +
        '`npm run ops -s -- keygen --rotate` prints it',
    },
  ),
  JWT_ACCESS_EXPIRY: variable(durationSecs, '15m', { meaning: 'lifetime of an access token' }),
  JWT_REFRESH_EXPIRY: variable(durationSecs, '168h', { meaning: 'lifetime of a session without a refresh' }),
  JWT_WS_EXPIRY: variable(durationSecs, '60s', { meaning: 'lifetime of a token that opens a socket' }),
  REG_TICKET_SECRET: optionalSecret(isStrongSecret, 'must be at least 32 characters that cannot be guessed', {
    otherwise: 'generated in `DATA_DIR`',
    meaning:
      'signs registration tickets and one-time codes; recognises erased users who return; makes the secrets of ' +
      'webhooks and the push key',
    isRequiredInProduction: true,
  }),
  REG_TICKET_TTL: variable(durationSecs, '5m', {
    meaning: 'lifetime of a registration ticket',
  }),
  IDP_CLIENT_ID: variable(z.string().max(500), DEV_CLIENT_ID, {
    meaning: "this server's client id at the identity provider",
    isRequiredInProduction: true,
  }),
  IDP_ISSUER: variable(webAddress, 'https://accounts.google.com', {
    meaning: "issuer of the provider's tokens; in production its three addresses must be https",
  }),
  IDP_AUTHORIZE_URL: variable(webAddress, 'https://accounts.google.com/o/oauth2/v2/auth', {
    meaning: 'the page where a browser signs in',
  }),
  IDP_JWKS_URL: variable(webAddress, 'https://www.googleapis.com/oauth2/v3/certs', {
    meaning: "the provider's public keys",
  }),
  SMTP_URL: optionalSecret((url) => hasScheme(url, ['smtp:', 'smtps:']), 'must be an smtp:// or smtps:// address', {
    otherwise: 'mails are appended to `outbox.jsonl` in `DATA_DIR`',
    meaning: 'the mail server; in production one on another machine must be smtps or offer STARTTLS',
    isRequiredInProduction: true,
  }),
  MAIL_FROM: variable(
    z.string().regex(MAIL_SENDER, 'must be an address, or a name with an address in <>'),
    DEV_SENDER,
    { meaning: 'the sender of mails' },
  ),
  COOKIE_DOMAIN: optional((domain) => /^\.?[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(domain), 'must be a domain name', {
    otherwise: 'the host that was called',
    meaning: 'the domain of the cookies; every host under it gets and can set them',
  }),
  COOKIE_PREFIX: variable(z.enum(['', '__Host-']), '', {
    meaning: 'begins the names of both cookies: `__Host-` if no other host under the domain may set them',
  }),
  CORS_ORIGINS: variable(
    list(isOrigin, 'must be origins such as https://play.example, without a path, separated by commas'),
    '',
    { meaning: 'pages that may call with cookies, separated by commas; share links lead to the first' },
  ),
  ADMIN_EMAILS: variable(
    list(
      (mail) => /^[\x21-\x7e]+$/.test(mail) && /^[^@]+@[^@]+$/.test(mail),
      'must be e-mail addresses in ASCII, separated by commas',
    ),
    '',
    { meaning: 'users with these addresses are admins while they are listed' },
  ),
  TRUSTED_PROXIES: variable(integer(0, 16), '0', {
    meaning: "how many of your proxies are in front; with 0 a client's address is that of its socket",
  }),
  RATE_LIMIT_PER_MIN: variable(integer(0, 1_000_000), '200', {
    meaning:
      'requests per minute from one address to REST, orders included, to the WebSocket address, and as many ' +
      'handshakes, these in each process; 0 disables them, and the limits of orders, keys and connections of a user; ' +
      'raise it where many users share an address',
  }),
  RATE_LIMIT_SITE_FACTOR: variable(integer(0, 65_536), '0', {
    meaning:
      'the IPv6 networks of one site (a /48) may together use this many times the limit of one address; 0 counts each ' +
      'network (a /64) by itself. An attacker may have a whole site, and so may a university',
  }),
  SECURITY_CONTACT: optional(
    (contact) => /^mailto:[\w.+-]+@[\w.-]+$/.test(contact) || hasScheme(contact, ['https:']),
    'must be a mailto: or https:// address',
    {
      otherwise: 'neither',
      meaning: 'where to report a weakness, for `/.well-known/security.txt` and `/security`',
    },
  ),
  LOG_LEVEL: variable(oneOf(LOG_LEVELS), 'info', { meaning: LOG_LEVELS.join(', ') }),
  DRAIN_SECS: variable(integer(0, 5), '0', {
    meaning:
      'how long a stopping process still serves, with `/ready` at 503: longer than your balancer takes to ' +
      'notice, at most 5',
  }),
  METRICS: variable(oneOf(METRICS_ACCESS), 'private', {
    meaning:
      'who may read `/metrics`: private addresses without a proxy (`private`), everyone (`open`), no one (`off`)',
  }),
  WEBHOOK_TARGETS: oneOf(WEBHOOK_TARGETS)
    .optional()
    .register(declarations, {
      default: null,
      otherwise: '`any`, in production `public`',
      meaning:
        'where webhooks and push messages may be sent; users choose the addresses of push messages. ' +
        '`public`: public addresses over TLS. `any`: anywhere, your network included. ' +
        '`/etc/hosts` is read only for names without a dot',
    }),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(isWebAddress, NO_WEB_ADDRESS, {
    otherwise: 'no traces',
    meaning: 'an OpenTelemetry collector, such as `http://…:4318` (OTLP over HTTP)',
  }),
  OTEL_SERVICE_NAME: variable(z.string().max(100), 'touchline', { meaning: 'the service in traces' }),
  OTEL_TRACES_SAMPLER_ARG: variable(
    z
      .string()
      .regex(/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/, 'must be a share from 0 to 1')
      .transform(Number),
    '1',
    { meaning: 'share of requests that is traced, unless their `traceparent` decides' },
  ),
  PROVIDER_URL: optional(isWebAddress, NO_WEB_ADDRESS, {
    otherwise: 'recordings only',
    meaning: 'live match data: a Sportmonks-compatible Football API v3',
  }),
  PROVIDER_TOKEN: optionalSecret((token) => /^[\x21-\x7e]{1,500}$/.test(token), 'must be a token without spaces', {
    meaning: 'its token; required with `PROVIDER_URL`',
  }),
  PROVIDER_POLL_MS: variable(integer(10, 600_000), '10000', { meaning: 'milliseconds between two polls' }),
  DEMO_REPLAY: z.string().optional().register(declarations, {
    default: null,
    otherwise: 'goal-feast; none in production and with a provider',
    meaning: 'the recording that plays in a loop, or `none`',
  }),
  DEMO_SPEED: variable(integer(1, 120), '1', { meaning: 'how many times faster than life it plays' }),
  DEMO_TRADERS: variable(integer(0, 500), '20', { meaning: 'simulated traders in its match' }),
})

/** What is known about each variable, in the order of `docs/configuration.md`. */
export const VARIABLES: readonly (Declaration & { readonly name: string })[] = Object.entries(Environment.shape).map(
  ([name, schema]) => ({ name, ...present(declarations.get(schema), `declaration of ${name}`) }),
)
