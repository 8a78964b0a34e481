/** The configuration, read from the environment at the start; all mistakes in it are reported at once. */
import type { ConnectOptions } from '../db/postgres/connection.ts'
import { existsSync } from 'node:fs'
import type { z } from 'zod'
import { type PublicKey, publicKeysFrom } from './auth/keys.ts'
import type { LogLevel } from './observe/log.ts'
import { Secret } from './secret.ts'
import { monotonicMs } from './system-world.ts'
import {
  DEV_CLIENT_ID,
  Environment,
  isRole,
  type MetricsAccess,
  type WebhookTargets,
  pemText,
  type Role,
  ROLES,
  unquoted,
  VARIABLES,
} from './variables.ts'

export interface Config {
  /** Without dev routes, with cross-site cookies, and with nothing invented that an operator must choose. */
  readonly production: boolean
  readonly host: string
  readonly port: number
  readonly wsPort: number
  /** Null: the embedded database in `dataDir`. */
  readonly databaseUrl: Secret | null
  /** A standby for reads that may be seconds old; null without one. */
  readonly databaseReplicaUrl: Secret | null
  /** False behind a pooler in transaction mode. */
  readonly isDatabasePrepared: boolean
  /** Null: the in-process fast store. */
  readonly redisUrl: Secret | null
  /** Sign messages between processes; without a key they are not signed. The other one counts, too. */
  readonly bus: { readonly key: Secret | null; readonly otherKey: Secret | null }
  readonly dataDir: string
  /** What this process runs: `api` = REST and price feed, `rooms` = matches and replays. */
  readonly roles: readonly Role[]
  /** The WebSocket address that clients are given. Null: the host they called, at `wsPort`. */
  readonly publicWsUrl: string | null
  readonly jwt: {
    /** PKCS8 PEM. Null: generated into `dataDir`. */
    readonly privateKeyPem: Secret | null
    /** Null: the thumbprint of the public key. */
    readonly keyId: string | null
    /** Other keys whose tokens count: former ones, and the next one before a rotation. */
    readonly publicKeys: readonly PublicKey[]
    readonly accessSecs: number
    readonly refreshSecs: number
    readonly wsSecs: number
  }
  readonly identity: {
    /** The audience that the identity provider's tokens must have. */
    readonly clientId: string
    readonly issuer: string
    /** The page where a browser signs in. */
    readonly authorizeUrl: string
    readonly keysUrl: string
  }
  readonly ticket: {
    /** Signs registration tickets and one-time codes. Null: generated into `dataDir`. */
    readonly secret: Secret | null
    readonly ttlSecs: number
  }
  readonly mail: {
    /** Null: mails are appended to `outbox.jsonl` in `dataDir`. */
    readonly smtpUrl: Secret | null
    readonly from: string
  }
  readonly cookies: { readonly domain: string | null; readonly prefix: '' | '__Host-' }
  readonly limits: {
    /** Requests per minute from one address; 0 disables every rate limit. */
    readonly perMinute: number
    /** How many times the limit of one address an IPv6 site has; 0: no bound of its own. */
    readonly siteFactor: number
    /** How many proxies of ours stand in front; with 0, a client's address is that of its socket. */
    readonly trustedProxies: number
  }
  /** Origins whose pages may call with cookies, exactly as a browser sends them. */
  readonly corsOrigins: readonly string[]
  /** Users with these addresses, in lower case, are admins. */
  readonly adminEmails: readonly string[]
  /** Where to report a weakness. */
  readonly securityContact: string | null
  readonly logLevel: LogLevel
  /** How long a stopping process still serves, with `/ready` at 503. */
  readonly drainMs: number
  /** Who may read `/metrics`: no one, callers at private addresses, or everyone. */
  readonly metrics: MetricsAccess
  /** Where webhooks may lead. */
  readonly webhookTargets: WebhookTargets
  /**
   * The collector of traces (OTLP over HTTP), the service's name there, and the share of requests traced. Null: no
   * traces.
   */
  readonly tracing: { readonly endpoint: string; readonly serviceName: string; readonly share: number } | null
  /** The live provider of match data. Null: only recordings play. */
  readonly provider: { readonly url: string; readonly token: Secret; readonly pollMs: number } | null
  /** The recording that plays from the start, with simulated traders. A null `replay`: none. */
  readonly demo: { readonly replay: string | null; readonly speed: number; readonly traders: number }
}

/** The environment is invalid: one line per variable. Values are never repeated, since some of them are secrets. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly lines: readonly string[]

  constructor(lines: readonly string[]) {
    super(`The configuration cannot be used:\n${lines.map((line) => `  ${line}`).join('\n')}`)
    this.lines = lines
  }
}

/** With one role alone, a process meets the processes of the other role only through these. */
const REQUIRED_OF_ONE_ROLE = ['DATABASE_URL', 'REDIS_URL'] as const

/** The environment of this process; variables that are not set are read from `.env` in the working directory. */
export function environment(): NodeJS.ProcessEnv {
  if (existsSync('.env')) process.loadEnvFile('.env')
  return process.env
}

/** Reads the configuration; an empty value counts as unset. Throws ConfigError with every problem at once. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const production = set['NODE_ENV'] === 'production'
  const parsed = Environment.safeParse(set)
  const parsedLines = (parsed.error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  const ports = Environment.pick({ PORT: true, WS_PORT: true }).safeParse(set).data
  const isOnePort = ports !== undefined && ports.PORT !== 0 && ports.PORT === ports.WS_PORT
  const isDevClient = production && set['IDP_CLIENT_ID'] === DEV_CLIENT_ID
  const lines = [
    ...missingFrom(set),
    ...parsedLines,
    ...(isOnePort ? ['WS_PORT: must differ from PORT'] : []),
    ...(production ? plainProvider(set) : []),
    ...prefixedCookies(set, production),
    ...(isDevClient ? [`IDP_CLIENT_ID: must be your own in production, not ${DEV_CLIENT_ID}`] : []),
  ]
  if (!parsed.success || lines.length > 0) throw new ConfigError(lines)
  return configFrom(parsed.data, production)
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** A browser refuses a cookie with `__Host-` that is for a domain, or does not come over TLS. */
const prefixedCookies = (set: Readonly<Record<string, string | undefined>>, production: boolean): readonly string[] =>
  (set['COOKIE_PREFIX'] ?? '') !== '' && (!production || set['COOKIE_DOMAIN'] !== undefined)
    ? ['COOKIE_PREFIX: needs production, and no COOKIE_DOMAIN']
    : []

/** Anyone on the path to a provider without TLS could sign in as any user. Loopback is excepted, for rehearsals. */
function plainProvider(set: Readonly<Record<string, string | undefined>>): readonly string[] {
  return ['IDP_ISSUER', 'IDP_AUTHORIZE_URL', 'IDP_JWKS_URL'].flatMap((name) => {
    const url = URL.parse(set[name] ?? '')
    return url?.protocol === 'http:' && !LOOPBACK.has(url.hostname) ? [`${name}: must be https in production`] : []
  })
}

/** A line for each variable that is required and not set. */
function missingFrom(set: Readonly<Record<string, unknown>>): readonly string[] {
  const roles = new Set(Environment.pick({ ROLES: true }).safeParse(set).data?.ROLES)
  const inProduction = VARIABLES.filter((each) => each.isRequiredInProduction === true).map(({ name }) => name)
  const required = new Map<string, string>([
    ...(roles.size === 1 ? REQUIRED_OF_ONE_ROLE : []).map((name) => [name, 'with one of the ROLES alone'] as const),
    ...(set['NODE_ENV'] === 'production' ? inProduction : []).map((name) => [name, 'in production'] as const),
    ...(set['NODE_ENV'] === 'production' && set['REDIS_URL'] !== undefined
      ? [['BUS_KEY', 'with REDIS_URL in production'] as const]
      : []),
    ...(set['DATABASE_REPLICA_URL'] === undefined ? [] : [['DATABASE_URL', 'with DATABASE_REPLICA_URL'] as const]),
    ...(set['PROVIDER_URL'] === undefined ? [] : [['PROVIDER_TOKEN', 'with PROVIDER_URL'] as const]),
  ])
  return [...required].filter(([name]) => set[name] === undefined).map(([name, when]) => `${name}: is required ${when}`)
}

function configFrom(env: z.output<typeof Environment>, production: boolean): Config {
  const demoReplay = env.DEMO_REPLAY ?? (production || env.PROVIDER_URL !== null ? 'none' : 'goal-feast')
  return Object.freeze({
    production,
    host: env.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port: env.PORT,
    wsPort: env.WS_PORT,
    databaseUrl: env.DATABASE_URL,
    databaseReplicaUrl: env.DATABASE_REPLICA_URL,
    isDatabasePrepared: env.DATABASE_PREPARED === 'on',
    redisUrl: env.REDIS_URL,
    bus: Object.freeze({ key: env.BUS_KEY, otherKey: env.BUS_OTHER_KEY }),
    dataDir: env.DATA_DIR,
    roles: Object.freeze(env.ROLES.length === 0 ? ROLES : env.ROLES.filter(isRole)),
    publicWsUrl: env.PUBLIC_WS_URL?.replace(/\/+$/, '') ?? null,
    jwt: Object.freeze({
      privateKeyPem: env.JWT_PRIVATE_KEY === null ? null : new Secret(pemText(env.JWT_PRIVATE_KEY.reveal())),
      keyId: env.JWT_KEY_ID,
      publicKeys: Object.freeze(publicKeysFrom(unquoted(env.JWT_PREVIOUS_PUBLIC_KEYS ?? '{"keys":[]}')) ?? []),
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
    cookies: Object.freeze({ domain: env.COOKIE_DOMAIN, prefix: env.COOKIE_PREFIX }),
    limits: Object.freeze({
      perMinute: env.RATE_LIMIT_PER_MIN,
      siteFactor: env.RATE_LIMIT_SITE_FACTOR,
      trustedProxies: env.TRUSTED_PROXIES,
    }),
    corsOrigins: Object.freeze(env.CORS_ORIGINS),
    adminEmails: Object.freeze(env.ADMIN_EMAILS.map((mail) => mail.toLowerCase())),
    securityContact: env.SECURITY_CONTACT,
    logLevel: env.LOG_LEVEL,
    drainMs: env.DRAIN_SECS * 1_000,
    metrics: env.METRICS,
    webhookTargets: env.WEBHOOK_TARGETS ?? (production ? 'public' : 'any'),
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
        : Object.freeze({
            url: env.PROVIDER_URL,
            token: env.PROVIDER_TOKEN ?? new Secret(''),
            pollMs: env.PROVIDER_POLL_MS,
          }),
    demo: Object.freeze({
      replay: demoReplay === 'none' ? null : demoReplay,
      speed: env.DEMO_SPEED,
      traders: env.DEMO_TRADERS,
    }),
  })
}

/** How the database that a configuration names is opened. */
export const databaseOf = ({
  databaseUrl,
  databaseReplicaUrl,
  dataDir,
  isDatabasePrepared: isPrepared,
}: Pick<Config, 'databaseUrl' | 'databaseReplicaUrl' | 'dataDir' | 'isDatabasePrepared'>): ConnectOptions => ({
  databaseUrl: databaseUrl?.reveal() ?? null,
  replica: databaseReplicaUrl === null ? null : { url: databaseReplicaUrl.reveal(), monotonicMs },
  dataDir,
  isPrepared,
})
