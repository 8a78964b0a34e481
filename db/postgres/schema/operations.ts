/** Rows of settings, the audit log, the upkeep and the installation. */
import type { Generated } from 'kysely'
import type { Json, Timestamp } from './columns.ts'

export interface OperationTables {
  settings: SettingsTable
  settings_version: SettingsVersionTable
  audit_log: AuditLogTable
  audit_words: AuditWordsTable
  upkeep: UpkeepTable
  sweeps: SweepsTable
  installation: InstallationTable
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
