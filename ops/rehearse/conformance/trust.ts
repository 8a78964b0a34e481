/**
 * What a deployment must be told so that it can be asked everything: whose identity tokens, mail server and match data to
 * trust, and the keys with which the suite reads and forges tokens. All of it is documented configuration.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { Football } from './football.ts'
import { CLIENT_ID, IdentityProvider } from './identity-provider.ts'
import { MailServer } from './mail-server.ts'

export const ADMIN = 'conformance-admin'
export const ALLOWED_ORIGIN = 'https://play.conformance.example'
/** Often enough that nothing here waits long for a match. */
const POLL_MS = 250

export type Environment = Readonly<Record<string, string>>

export interface Trust {
  readonly identity: IdentityProvider
  readonly mail: MailServer
  readonly football: Football
  /** The private key, PKCS8 PEM, with which the deployment signs tokens. */
  readonly signingKey: string
  readonly ticketSecret: string
  /** To be added to the environment of the deployment. */
  readonly environment: Environment
  stop(): Promise<void>
}

/** Starts the suite's own servers on three ports from `port` on, or on any free ones for 0. */
export async function startTrust(port: number, keys: Environment = newKeys()): Promise<Trust> {
  const at = (n: number): number => (port === 0 ? 0 : port + n)
  const identity = await IdentityProvider.start(at(0))
  const mail = await MailServer.start(at(1))
  const football = await Football.start(at(2))
  return {
    identity,
    mail,
    football,
    signingKey: (keys['JWT_PRIVATE_KEY'] ?? '').replaceAll('\\n', '\n'),
    ticketSecret: keys['REG_TICKET_SECRET'] ?? '',
    environment: {
      IDP_CLIENT_ID: CLIENT_ID,
      IDP_ISSUER: identity.issuer,
      IDP_JWKS_URL: `${identity.issuer}/keys`,
      SMTP_URL: mail.url,
      PROVIDER_URL: football.url,
      PROVIDER_TOKEN: football.token,
      PROVIDER_POLL_MS: String(POLL_MS),
      ADMIN_EMAILS: `${ADMIN}@conformance.example`,
      CORS_ORIGINS: ALLOWED_ORIGIN,
      TRUSTED_PROXIES: '1',
      ...keys,
    },
    stop: async () => {
      identity.stop()
      football.stop()
      await mail.stop()
    },
  }
}

/** The same with the keys of a file in the form of an environment, which is written when it is not there. */
export async function trustOf(file: string, port: number): Promise<Trust> {
  const trust = await startTrust(port, existsSync(file) ? known(file) : newKeys())
  const lines = Object.entries(trust.environment).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(file, lines.join(''), { mode: 0o600 })
  return trust
}

function known(file: string): Environment {
  const { JWT_PRIVATE_KEY = '', REG_TICKET_SECRET = '' } = parseEnv(readFileSync(file, 'utf8'))
  return { JWT_PRIVATE_KEY, REG_TICKET_SECRET }
}

function newKeys(): Environment {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return {
    JWT_PRIVATE_KEY: pem.trim().replaceAll('\n', '\\n'),
    REG_TICKET_SECRET: randomBytes(32).toString('base64url'),
  }
}
