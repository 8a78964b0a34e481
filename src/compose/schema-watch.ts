/** Notices that a newer version has migrated the database so that this one must not continue. */
import { newerBreaking } from '../../db/postgres/migrate.ts'
import type { Base } from './base.ts'
import type { Stores } from './stores.ts'

export class SchemaWatch {
  /** Resolves with the name of the migration, once `look` has found it. */
  readonly found: Promise<string>
  readonly #db: Stores['db']
  readonly #log: Base['log']
  readonly #finding = Promise.withResolvers<string>()
  #newer: string | null = null

  constructor(db: Stores['db'], log: Base['log']) {
    this.#db = db
    this.#log = log
    this.found = this.#finding.promise
  }

  /** The breaking migration that this version does not know; null before it is found. */
  get newer(): string | null {
    return this.#newer
  }

  async look(): Promise<void> {
    if (this.#newer !== null) return
    this.#newer = await newerBreaking(this.#db)
    if (this.#newer === null) return
    this.#log.warn('schema_newer', { name: this.#newer })
    this.#finding.resolve(this.#newer)
  }
}
