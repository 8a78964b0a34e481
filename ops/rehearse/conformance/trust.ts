/**
 * The environment in which a deployment can be checked completely: an identity provider, a mail server and match data
 * that the suite controls, and the keys with which it reads and forges tokens. It uses only documented configuration.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { Football } from './football.ts'
import { CLIENT_ID, IdentityProvider } from './identity-provider.ts'
import { MailServer } from './mail-server.ts'

export const ADMIN = 'conformance-admin'
/** An admin whose role may be taken away. */
export const OTHER_ADMIN = 'conformance-other-admin'
export const ALLOWED_ORIGIN = 'https://play.conformance.example'
/** Short, so that checks do not wait long for a match. */
const POLL_MS = 250
/** The key of the suite's identity provider; the deployment itself does not read it. */
const IDENTITY_KEY = 'CONFORMANCE_IDENTITY_KEY'

export type Environment = Readonly<Record<string, string>>

export interface Trust {
  readonly identity: IdentityProvider
  readonly mail: MailServer
  readonly football: Football
  /** The private key, PKCS8 PEM, with which the deployment signs tokens. */
  readonly signingKey: string
  readonly ticketSecret: string
  /** The environment of the deployment. */
  readonly environment: Environment
  stop(): Promise<void>
}

/** The ports of the suite's own servers; 0 means any free one. */
interface Ports {
  readonly identity: number
  readonly mail: number
  readonly football: number
}

/** Starts the suite's own servers. */
export async function startTrust(
  ports: Ports = { identity: 0, mail: 0, football: 0 },
  keys: Environment = newKeys(),
): Promise<Trust> {
  const identity = await IdentityProvider.start(ports.identity, linesOf(keys[IDENTITY_KEY]))
  const mail = await MailServer.start(ports.mail)
  const football = await Football.start(ports.football)
  return {
    identity,
    mail,
    football,
    signingKey: linesOf(keys['JWT_PRIVATE_KEY']),
    ticketSecret: keys['REG_TICKET_SECRET'] ?? '',
    environment: {
      IDP_CLIENT_ID: CLIENT_ID,
      IDP_ISSUER: identity.issuer,
      IDP_JWKS_URL: identity.keysUrl,
      SMTP_URL: mail.url,
      PROVIDER_URL: football.url,
      PROVIDER_TOKEN: football.token,
      PROVIDER_POLL_MS: String(POLL_MS),
      ADMIN_EMAILS: [ADMIN, OTHER_ADMIN].map((name) => `${name}@conformance.example`).join(),
      CORS_ORIGINS: ALLOWED_ORIGIN,
      TRUSTED_PROXIES: '1',
      ...keys,
    },
    stop: async () => {
      football.stop()
      await Promise.all([identity.stop(), mail.stop()])
    },
  }
}

/**
 * The same with the keys and ports of a file in the form of an environment. If the file does not exist it is written,
 * with new keys and three ports from `port` on, or any free ones for 0.
 */
export async function trustOf(file: string, port: number): Promise<Trust> {
  const at = (n: number): number => (port === 0 ? 0 : port + n)
  const trust = existsSync(file)
    ? await known(file)
    : await startTrust({ identity: at(0), mail: at(1), football: at(2) }, newKeys())
  const lines = Object.entries(trust.environment).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(file, lines.join(''), { mode: 0o600 })
  return trust
}

function known(file: string): Promise<Trust> {
  const environment = parseEnv(readFileSync(file, 'utf8'))
  const portIn = (name: string): number => Number(new URL(environment[name] ?? '').port)
  const ports = { identity: portIn('IDP_ISSUER'), mail: portIn('SMTP_URL'), football: portIn('PROVIDER_URL') }
  const keys = [IDENTITY_KEY, 'JWT_PRIVATE_KEY', 'REG_TICKET_SECRET', 'BUS_KEY']
  return startTrust(ports, Object.fromEntries(keys.map((name) => [name, environment[name] ?? ''])))
}

function newKeys(): Environment {
  return {
    [IDENTITY_KEY]: newPrivateKey(),
    JWT_PRIVATE_KEY: newPrivateKey(),
    REG_TICKET_SECRET: randomBytes(32).toString('base64url'),
    BUS_KEY: randomBytes(32).toString('base64url'),
  }
}

/** PKCS8 PEM on one line, as an environment file needs it. */
function newPrivateKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim().replaceAll('\n', '\\n')
}

const linesOf = (pem = ''): string => pem.replaceAll('\\n', '\n')
