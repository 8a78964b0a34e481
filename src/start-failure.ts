/** Explains why the program cannot start: in one line if the operator can fix it, with a stack otherwise. */
import { ConfigError } from './config.ts'

/** Failures whose cause lies outside the program, by error code or name, with what to do about them. */
const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'stop the program that listens there, or choose other ports with PORT and WS_PORT',
  EACCES: 'choose ports from 1024 on (PORT, WS_PORT), or a folder that is yours (DATA_DIR)',
  EADDRNOTAVAIL: 'HOST must be an address of this machine',
  ENOTFOUND: 'correct the name in HOST, DATABASE_URL or REDIS_URL',
  ECONNREFUSED: 'start the database that DATABASE_URL names, or leave it empty for the embedded one',
  '3D000': 'create it, or correct DATABASE_URL',
  '28P01': 'correct DATABASE_URL',
  FastStoreUnavailable: 'start it, correct REDIS_URL, or leave it empty for the in-process store',
  FolderInUse: 'or choose another folder with DATA_DIR',
}

const UNTRUSTED =
  'name the PEM file of its authority in NODE_EXTRA_CA_CERTS, or for PostgreSQL in sslrootcert of its URL'
/** Why a server's certificate was refused, by error code: also that of the cause of another error. */
const CERTIFICATES: Readonly<Record<string, string>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: 'use a name for which its certificate is',
  CERT_HAS_EXPIRED: 'renew its certificate',
}

/** Exit codes of the program. None is one of Node's own. */
export const EXIT = {
  failed: 1,
  /**
   * The database is that of a newer version, which must be started in this one's place ("try again later" of
   * sysexits.h).
   */
  schemaNewer: 75,
} as const

/** Errors whose message already says what to do. */
const WHOLE: ReadonlySet<string> = new Set(['SchemaNewer', 'SchemaRefused', 'SessionRefused'])

export const exitCodeOf = (error: unknown): number =>
  error instanceof Error && error.name === 'SchemaNewer' ? EXIT.schemaNewer : EXIT.failed

export function explainStart(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (!(error instanceof Error)) return `Touchline cannot start: ${String(error)}`
  return `Touchline cannot start: ${correctable(error) ?? error.stack}`
}

/** What has failed and what to do about it, or null when the cause may lie in the program. */
export function correctable(error: Error): string | null {
  if (error instanceof ConfigError || WHOLE.has(error.name)) return error.message
  const remedy = CERTIFICATES[nameOf(error.cause)] ?? CERTIFICATES[nameOf(error)] ?? REMEDIES[nameOf(error)]
  return remedy === undefined ? null : `${error.message}; ${remedy}`
}

const nameOf = (error: unknown): string =>
  error instanceof Error ? ('code' in error ? String(error.code) : error.name) : ''
