/** Rows of settings, the audit log, the upkeep and the installation. */
import type { Generated } from 'kysely'
import type { DefaultTimestamp, Json, Timestamp } from './columns.ts'

export interface OperationTables {
  settings: SettingsTable
  settings_version: SettingsVersionTable
  audit_log: AuditLogTable
  audit_words: AuditWordsTable
  upkeep: UpkeepTable
  sweeps: SweepsTable
  installation: InstallationTable
  webhooks: WebhooksTable
  processes: ProcessesTable
}

/** A process that runs now. */
export interface ProcessesTable {
  id: string
  runs_matches: boolean
  hears: boolean
  seen_at: Timestamp
  missed_by: Generated<string[]>
  missed_at: Timestamp | null
}

export interface SettingsTable {
  /** A key of the catalogue; a flag's begins with `flags.`. */
  key: string
  value: Json
  updated_at: Timestamp
  updated_by: string | null
}

/** One row: a change of any setting locks it, and a reader that has seen its number has seen every change. */
export interface SettingsVersionTable {
  id: Generated<boolean>
  version: number
}

export interface AuditLogTable {
  id: Generated<number>
  at: Timestamp
  /** The admin; null for what a process did on its own. */
  actor_id: string | null
  action: string
  /** What the action changed. */
  subject: string
  before: Json | null
  after: Json | null
  /** `ok`, or the code of a refusal. */
  outcome: Generated<string>
  /** The entry's place in the chain; null until it is sealed, about a second after its commit. */
  n: Generated<number | null>
  hash: Generated<string | null>
}

/** What operators have written about a person, until the person is erased. */
export interface AuditWordsTable {
  /** Of salt and words; the entry of the audit log has it. */
  digest: string
  about: string
  salt: string
  words: string
}

/** How far a task of the upkeep has got: everything before is done. */
export interface UpkeepTable {
  task: string
  done_until: Timestamp
}

/** How far a table has been swept for old rows (db/retention.ts). */
export interface SweepsTable {
  name: string
  /** The next page. */
  page: Generated<number>
}

/** One row. */
export interface InstallationTable {
  id: Generated<string>
}

/** A webhook and how far it has got. */
export interface WebhooksTable {
  id: string
  url: string
  types: string[]
  secret_digest: string
  state: Generated<'active' | 'paused' | 'disabled'>
  created_at: Timestamp
  /** The place in the event stream: a range, a row of its match, and events of that row. */
  position: number
  seq: number
  read: number
  /** The id of what was sent last and is not known to have arrived, and the place after it. */
  plan: string | null
  until_position: number | null
  until_seq: number | null
  until_read: number | null
  attempts: Generated<number>
  next_at: DefaultTimestamp
  /** The process that works on it, until this time. */
  lease: string | null
  leased_until: DefaultTimestamp
  last_success_at: Timestamp | null
  failing_since: Timestamp | null
  last_error: string | null
}
