/** The environment, read once and whole: every setting is checked, and everything wrong is reported in one go. */
import { createPrivateKey } from 'node:crypto'
import { existsSync } from 'node:fs'
import { z } from 'zod'
import { LOG_LEVELS, type LogLevel } from './observe/log.ts'

export type Role = 'api' | 'rooms'
const ROLES: readonly Role[] = ['api', 'rooms']
const isRole = (text: string): text is Role => ROLES.some((role) => role === text)

const METRICS_ACCESS = ['off', 'private', 'open'] as const
export type MetricsAccess = (typeof METRICS_ACCESS)[number]

export interface Config {
  /** Switches the dev routes off and the cookies to their cross-site form, and demands what must not be made up. */
  readonly production: boolean
  readonly host: string
  readonly port: number
  readonly wsPort: number
  /** Null: the embedded database in `dataDir`. */
  readonly databaseUrl: string | null
  /** Null: the in-process fast store. */
  readonly redisUrl: string | null
  readonly dataDir: string
  /** What this process runs: `api` = REST and price feed, `rooms` = matches and replays. */
  readonly roles: readonly Role[]
  /** The address clients are told to open sockets at. Null: the host they called, at `wsPort`. */
  readonly publicWsUrl: string | null
  readonly jwt: {
    /** PKCS8 PEM. Null: generated into `dataDir`. */
    readonly privateKeyPem: string | null
    /** Null: the thumbprint of the public key. */
    readonly keyId: string | null
    readonly accessSecs: number
    readonly refreshSecs: number
    readonly wsSecs: number
  }
  readonly identity: {
    /** Whom the identity provider's tokens must be meant for. */
    readonly clientId: string
    readonly issuer: string
    /** Where a browser goes to sign in. */
    readonly authorizeUrl: string
    readonly keysUrl: string
  }
  readonly ticket: {
    /** Signs registration tickets and one-time codes. Null: generated into `dataDir`. */
    readonly secret: string | null
    readonly ttlSecs: number
  }
  readonly mail: {
    /** Null: mails are appended to `outbox.jsonl` in `dataDir`. */
    readonly smtpUrl: string | null
    readonly from: string
  }
  readonly cookieDomain: string | null
  readonly limits: {
    /** Requests a minute from one address; 0 switches all rate limits off. */
    readonly perMinute: number
    /** How many proxies of ours stand in front; 0 believes the socket's address alone. */
    readonly trustedProxies: number
  }
  /** Origins whose pages may call with cookies, exactly as a browser sends them. */
  readonly corsOrigins: readonly string[]
  /** Whoever signs in with one of these, in lower case, is an admin. */
  readonly adminEmails: readonly string[]
  readonly logLevel: LogLevel
  /** How long a process that is asked to stop goes on as before, except that it says at `/ready` that it is not. */
  readonly drainMs: number
  /** Who may read the numbers at `/metrics`: nobody, whoever asks from a private address, or everybody. */
  readonly metrics: MetricsAccess
  /** Where traces go (OTLP over HTTP), as what, and the share of requests that is traced. Null: there are none. */
  readonly tracing: { readonly endpoint: string; readonly serviceName: string; readonly share: number } | null
  /** The live provider of match data. Null: there is none, and only recordings play. */
  readonly provider: { readonly url: string; readonly token: string; readonly pollMs: number } | null
  /** The recording that plays from the start, with simulated traders; a null name plays none. */
  readonly demo: { readonly replay: string | null; readonly speed: number; readonly traders: number }
}

/** What is wrong with the environment, one line a setting. Values are never repeated: some of them are secrets. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly lines: readonly string[]

  constructor(lines: readonly string[]) {
    super(`The configuration cannot be used:\n${lines.map((line) => `  ${line}`).join('\n')}`)
    this.lines = lines
  }
}

const SECONDS_PER = { s: 1, m: 60, h: 3_600, d: 86_400 } as const
/** Without these a production server would invent a secret, an empty database or a client on every node. */
const DEMANDED_IN_PRODUCTION = ['DATABASE_URL', 'JWT_PRIVATE_KEY', 'REG_TICKET_SECRET', 'IDP_CLIENT_ID'] as const
/** A process with one role alone meets those with the other nowhere else. */
const DEMANDED_OF_ONE_ROLE = ['DATABASE_URL', 'REDIS_URL'] as const

const integer = (min: number, max: number, fallback: number) =>
  z
    .string()
    .refine((text) => /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max, {
      error: `must be a whole number from ${min} to ${max}`,
    })
    .default(String(fallback))
    .transform(Number)

const durationSecs = (fallback: string) =>
  z
    .string()
    .regex(/^[1-9]\d{0,5}[smhd]$/, 'must be a duration such as 60s, 15m, 168h or 7d')
    .default(fallback)
    .transform((text) => {
      const unit = z.enum(['s', 'm', 'h', 'd']).parse(text.slice(-1))
      return Number(text.slice(0, -1)) * SECONDS_PER[unit]
    })

const list = (isItem: (item: string) => boolean, error: string) =>
  z
    .string()
    .default('')
    .transform((text) => text.split(',').map((item) => item.trim()))
    .transform((items) => items.filter((item) => item !== ''))
    .refine((items) => items.every(isItem), { error })

const optional = (isValid: (text: string) => boolean, error: string) =>
  z
    .string()
    .refine(isValid, { error })
    .optional()
    .transform((text) => text ?? null)

const hasScheme = (text: string, schemes: readonly string[]): boolean =>
  URL.canParse(text) && schemes.includes(new URL(text).protocol)

const isWebAddress = (text: string): boolean => hasScheme(text, ['http:', 'https:'])
const NO_WEB_ADDRESS = 'must be an http:// or https:// address'

const isOrigin = (text: string): boolean => isWebAddress(text) && new URL(text).origin === text

/**
 * One-line environments cannot hold a line feed, so `\n` may stand for it; and what reads a file of them for a container or
 * a Secret keeps the quotes that a `.env` needs.
 */
const pemText = (text: string): string => text.replace(/^"(.*)"$/s, '$1').replaceAll('\\n', '\n')

function isRsaKey(text: string): boolean {
  try {
    const key = createPrivateKey(pemText(text))
    return key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2_048
  } catch {
    return false
  }
}

const DEV_CLIENT_ID = 'dev-client'
const DEV_SENDER = 'Touchline <no-reply@touchline.invalid>'
const MAIL_SENDER = /^(?:[^<>@\r\n]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/

/** As long as the digest it keys, and not one thing over and over. */
const isStrongSecret = (text: string): boolean => text.length >= 32 && new Set(text).size >= 10

const webAddress = (fallback: string) => z.string().refine(isWebAddress, { error: NO_WEB_ADDRESS }).default(fallback)

const Environment = z.object({
  NODE_ENV: z
    .enum(['development', 'test', 'production'], { error: 'must be development, test or production' })
    .default('development'),
  HOST: z.string().optional(),
  PORT: integer(0, 65_535, 3_000),
  WS_PORT: integer(0, 65_535, 3_001),
  DATABASE_URL: optional((url) => hasScheme(url, ['postgres:', 'postgresql:']), 'must be a postgres:// address'),
  REDIS_URL: optional((url) => hasScheme(url, ['redis:', 'rediss:']), 'must be a redis:// address'),
  DATA_DIR: z.string().default('.data'),
  ROLES: list(isRole, 'must be api, rooms or both, separated by a comma'),
  PUBLIC_WS_URL: optional((url) => hasScheme(url, ['ws:', 'wss:']), 'must be a ws:// or wss:// address'),
  JWT_PRIVATE_KEY: optional(isRsaKey, 'must be an RSA private key of at least 2048 bits in PKCS8 PEM form'),
  JWT_KEY_ID: optional((id) => /^[\w.-]{1,100}$/.test(id), 'must be 1 to 100 letters, digits, dots, _ or -'),
  JWT_ACCESS_EXPIRY: durationSecs('15m'),
  JWT_REFRESH_EXPIRY: durationSecs('168h'),
  JWT_WS_EXPIRY: durationSecs('60s'),
  REG_TICKET_SECRET: optional(isStrongSecret, 'must be at least 32 characters that nobody can guess'),
  REG_TICKET_TTL: durationSecs('5m'),
  IDP_CLIENT_ID: z.string().max(500).default(DEV_CLIENT_ID),
  IDP_ISSUER: webAddress('https://accounts.google.com'),
  IDP_AUTHORIZE_URL: webAddress('https://accounts.google.com/o/oauth2/v2/auth'),
  IDP_JWKS_URL: webAddress('https://www.googleapis.com/oauth2/v3/certs'),
  SMTP_URL: optional((url) => hasScheme(url, ['smtp:', 'smtps:']), 'must be an smtp:// or smtps:// address'),
  MAIL_FROM: z.string().regex(MAIL_SENDER, 'must be an address, or a name with an address in <>').default(DEV_SENDER),
  COOKIE_DOMAIN: optional((domain) => /^\.?[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(domain), 'must be a domain name'),
  CORS_ORIGINS: list(isOrigin, 'must be origins such as https://play.example, without a path, separated by commas'),
  ADMIN_EMAILS: list((mail) => /^[^\s@]+@[^\s@]+$/.test(mail), 'must be e-mail addresses, separated by commas'),
  TRUSTED_PROXIES: integer(0, 16, 0),
  RATE_LIMIT_PER_MIN: integer(0, 1_000_000, 200),
  LOG_LEVEL: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` }).default('info'),
  DRAIN_SECS: integer(0, 5, 0),
  METRICS: z.enum(METRICS_ACCESS, { error: `must be one of ${METRICS_ACCESS.join(', ')}` }).default('private'),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(isWebAddress, NO_WEB_ADDRESS),
  OTEL_SERVICE_NAME: z.string().max(100).default('touchline'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/, 'must be a share from 0 to 1')
    .default('1')
    .transform(Number),
  PROVIDER_URL: optional(isWebAddress, NO_WEB_ADDRESS),
  PROVIDER_TOKEN: optional((token) => /^[\x21-\x7e]{1,500}$/.test(token), 'must be a token without spaces'),
  PROVIDER_POLL_MS: integer(10, 600_000, 10_000),
  DEMO_REPLAY: z.string().optional(),
  DEMO_SPEED: integer(1, 120, 1),
  DEMO_TRADERS: integer(0, 500, 20),
})

/** What this process was started with, and below it what a `.env` file in the working directory adds. */
export function environment(): NodeJS.ProcessEnv {
  if (existsSync('.env')) process.loadEnvFile('.env')
  return process.env
}

/** The settings in an environment; an empty value counts as unset. Throws ConfigError with every problem there is. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const production = set['NODE_ENV'] === 'production'
  const parsed = Environment.safeParse(set)
  const parsedLines = (parsed.error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  const ports = Environment.pick({ PORT: true, WS_PORT: true }).safeParse(set).data
  const isOnePort = ports !== undefined && ports.PORT !== 0 && ports.PORT === ports.WS_PORT
  const madeUp = production && set['IDP_CLIENT_ID'] === DEV_CLIENT_ID
  const lines = [
    ...missingFrom(set),
    ...parsedLines,
    ...(isOnePort ? ['WS_PORT: must be another one than PORT'] : []),
    ...(madeUp ? [`IDP_CLIENT_ID: must be your own in production, not ${DEV_CLIENT_ID}`] : []),
  ]
  if (!parsed.success || lines.length > 0) throw new ConfigError(lines)
  return configFrom(parsed.data, production)
}

/** A line for everything that must be set besides what is, each once. */
function missingFrom(set: Readonly<Record<string, unknown>>): readonly string[] {
  const roles = new Set(Environment.pick({ ROLES: true }).safeParse(set).data?.ROLES)
  const demanded = new Map<string, string>([
    ...(roles.size === 1 ? DEMANDED_OF_ONE_ROLE : []).map((name) => [name, 'with one of the ROLES alone'] as const),
    ...(set['NODE_ENV'] === 'production' ? DEMANDED_IN_PRODUCTION : []).map((name) => [name, 'in production'] as const),
    ...(set['PROVIDER_URL'] === undefined ? [] : [['PROVIDER_TOKEN', 'with PROVIDER_URL'] as const]),
  ])
  return [...demanded].filter(([name]) => set[name] === undefined).map(([name, when]) => `${name}: is required ${when}`)
}

function configFrom(env: z.output<typeof Environment>, production: boolean): Config {
  const demoReplay = env.DEMO_REPLAY ?? (production || env.PROVIDER_URL !== null ? 'none' : 'goal-feast')
  return Object.freeze({
    production,
    host: env.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port: env.PORT,
    wsPort: env.WS_PORT,
    databaseUrl: env.DATABASE_URL,
    redisUrl: env.REDIS_URL,
    dataDir: env.DATA_DIR,
    roles: Object.freeze(env.ROLES.length === 0 ? ROLES : env.ROLES.filter(isRole)),
    publicWsUrl: env.PUBLIC_WS_URL?.replace(/\/+$/, '') ?? null,
    jwt: Object.freeze({
      privateKeyPem: env.JWT_PRIVATE_KEY === null ? null : pemText(env.JWT_PRIVATE_KEY),
      keyId: env.JWT_KEY_ID,
      accessSecs: env.JWT_ACCESS_EXPIRY,
      refreshSecs: env.JWT_REFRESH_EXPIRY,
      wsSecs: env.JWT_WS_EXPIRY,
    }),
    identity: Object.freeze({
      clientId: env.IDP_CLIENT_ID,
      issuer: env.IDP_ISSUER,
      authorizeUrl: env.IDP_AUTHORIZE_URL,
      keysUrl: env.IDP_JWKS_URL,
    }),
    ticket: Object.freeze({ secret: env.REG_TICKET_SECRET, ttlSecs: env.REG_TICKET_TTL }),
    mail: Object.freeze({ smtpUrl: env.SMTP_URL, from: env.MAIL_FROM }),
    cookieDomain: env.COOKIE_DOMAIN,
    limits: Object.freeze({ perMinute: env.RATE_LIMIT_PER_MIN, trustedProxies: env.TRUSTED_PROXIES }),
    corsOrigins: Object.freeze(env.CORS_ORIGINS),
    adminEmails: Object.freeze(env.ADMIN_EMAILS.map((mail) => mail.toLowerCase())),
    logLevel: env.LOG_LEVEL,
    drainMs: env.DRAIN_SECS * 1_000,
    metrics: env.METRICS,
    tracing:
      env.OTEL_EXPORTER_OTLP_ENDPOINT === null
        ? null
        : Object.freeze({
            endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/+$/, ''),
            serviceName: env.OTEL_SERVICE_NAME,
            share: env.OTEL_TRACES_SAMPLER_ARG,
          }),
    provider:
      env.PROVIDER_URL === null
        ? null
        : Object.freeze({ url: env.PROVIDER_URL, token: env.PROVIDER_TOKEN ?? '', pollMs: env.PROVIDER_POLL_MS }),
    demo: Object.freeze({
      replay: demoReplay === 'none' ? null : demoReplay,
      speed: env.DEMO_SPEED,
      traders: env.DEMO_TRADERS,
    }),
  })
}
