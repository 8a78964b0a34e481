/**
 * The settings and flags in force. They are read from memory, written to PostgreSQL with an audit row in one
 * transaction, and followed by every process: `refresh` compares one number and reads the rest only when it has
 * changed.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { assert, present } from '../actors/kernel/assert.ts'
import type { UserId } from '../actors/kernel/ids.ts'
import type { TradingRules } from '../actors/kernel/limits.ts'
import {
  contradictionIn,
  type Flags,
  FLAGS_MAX,
  isFlagKey,
  modesFrom,
  OWN_FLAG,
  readSetting,
  rulesFrom,
  scopedSetting,
  type Setting,
  SETTINGS,
  type SettingKey,
  type SettingValue,
  type SettingValues,
  type ValueOf,
} from '../actors/kernel/settings.ts'
import { TRADING_MODES, type TradingMode } from '../actors/kernel/trading-mode.ts'
import { type Instant, instant, type World } from '../actors/kernel/world.ts'
import { priced } from '../actors/match/protection/in-full.ts'
import type { ScoringModel } from '../actors/market/pricing.ts'
import type { PriceRules } from '../actors/match/rule-change.ts'
import { modelFrom, SCORING_SETTINGS } from '../actors/market/scoring-settings.ts'
import type { AuditLog } from './audit-log.ts'
import { type Catalogue, catalogueWith, type Declared, FLAG_PREFIX, flagKey, settingOf } from './setting-catalogue.ts'
import type { Database } from './postgres/schema.ts'

/** A setting or flag with its current value. */
export interface SettingEntry {
  readonly key: string
  readonly setting: Setting
  readonly value: SettingValue
  /** Null while the default is in force. */
  readonly updatedAt: Instant | null
  /** The username of the admin who set it. */
  readonly updatedBy: string | null
}

export interface SettingChange {
  readonly key: string
  readonly value: unknown
  readonly by: UserId
  /** For the audit log. */
  readonly reason?: string | undefined
}

export interface FlagChange extends Omit<SettingChange, 'value'> {
  readonly enabled: boolean
}

export type SettingOutcome =
  | { readonly kind: 'set'; readonly entry: SettingEntry }
  /** No such setting. */
  | { readonly kind: 'unknown' }
  /** The value is invalid, alone or together with the others. Nothing has changed. */
  | { readonly kind: 'invalid'; readonly problem: string }

export type FlagOutcome =
  | { readonly kind: 'set'; readonly entry: SettingEntry }
  /** The operators have as many flags of their own as there may be. Nothing has changed. */
  | { readonly kind: 'full'; readonly max: number }

export type SettingPreview =
  | Exclude<SettingOutcome, { readonly kind: 'set' }>
  | { readonly kind: 'valid'; readonly rules: TradingRules; readonly model: ScoringModel }

/** What is in force, and what would be. Otherwise the first key that is no setting, or has an invalid value. */
export type SettingsDraft =
  | { readonly kind: 'unknown'; readonly key: string }
  | { readonly kind: 'invalid'; readonly key: string; readonly problem: string }
  | { readonly kind: 'valid'; readonly was: PriceRules; readonly would: PriceRules }

/** Called with the keys whose values have changed, in this process or another. */
type Listener = (changed: ReadonlySet<string>) => void

/** Reports a failure that no caller is waiting for. */
type Report = (event: string, error: unknown, facts?: Readonly<Record<string, unknown>>) => void

interface SettingsOptions {
  readonly db: Kysely<Database>
  readonly world: Pick<World, 'now'>
  readonly audit: AuditLog
  /** The settings of features, by key. */
  readonly declared: Declared
  /** Hears of stored values that are invalid, and of listeners that throw. Must not throw. */
  readonly report: Report
}

interface Stored {
  readonly value: unknown
  readonly updatedAt: Instant
  readonly updatedBy: string | null
}

/** Everything in force at one version. It is replaced as a whole, so no reader sees half a change. */
interface InForce {
  readonly version: number
  /** By key: the whole catalogue, then the scoped settings. */
  readonly entries: ReadonlyMap<string, SettingEntry>
  readonly values: SettingValues
  readonly flags: Flags
  readonly rules: TradingRules
  readonly model: ScoringModel
}

export class Settings {
  readonly #options: SettingsOptions
  readonly #catalogue: Catalogue
  readonly #listeners = new Set<Listener>()
  #inForce: InForce
  /** Refreshes run one after another, so that an older one never overwrites a newer one. */
  #looking: Promise<unknown> = Promise.resolve()

  private constructor(options: SettingsOptions, catalogue: Catalogue, inForce: InForce) {
    this.#options = options
    this.#catalogue = catalogue
    this.#inForce = inForce
  }

  /** Reads the settings in force. */
  static async open(options: SettingsOptions): Promise<Settings> {
    const catalogue = catalogueWith(options.declared)
    return new Settings(options, catalogue, inForceFrom(catalogue, await load(options.db), options.report))
  }

  /** The same object until a setting changes. */
  get rules(): TradingRules {
    return this.#inForce.rules
  }

  get model(): ScoringModel {
    return this.#inForce.model
  }

  get flags(): Flags {
    return this.#inForce.flags
  }

  value<Key extends SettingKey>(key: Key): SettingValues[Key] {
    return this.#inForce.values[key]
  }

  /** Reads the settings that a feature has declared. */
  reader<Own extends Declared>(_own: Own): <Key extends keyof Own & string>(key: Key) => ValueOf<Own[Key]> {
    return <Key extends keyof Own & string>(key: Key) =>
      present(this.#inForce.entries.get(key), key).value as ValueOf<Own[Key]>
  }

  /** Every setting except the flags: the catalogue, and the modes of matches and players that are not open. */
  list(): readonly SettingEntry[] {
    return [...this.#inForce.entries.values()].filter(({ key }) => !key.startsWith(FLAG_PREFIX))
  }

  listFlags(): readonly SettingEntry[] {
    const entries = [...this.#inForce.entries.values()].filter(({ key }) => key.startsWith(FLAG_PREFIX))
    return entries.map((entry) => ({ ...entry, key: entry.key.slice(FLAG_PREFIX.length) }))
  }

  /** What a value would bring into force, as far as this process knows. Nothing changes. */
  preview(key: string, value: unknown): SettingPreview {
    const drafted = this.draft({ [key]: value })
    if (drafted.kind === 'valid') return { kind: 'valid', ...drafted.would }
    return drafted.kind === 'unknown' ? { kind: 'unknown' } : { kind: 'invalid', problem: drafted.problem }
  }

  /** What several values would bring into force together. Nothing changes. */
  draft(draft: Readonly<Record<string, unknown>>): SettingsDraft {
    const { values, model, rules, entries } = this.#inForce
    const drafted = new Map<string, SettingValue>()
    for (const [key, value] of Object.entries(draft)) {
      const setting = key.startsWith(FLAG_PREFIX) ? undefined : settingOf(this.#catalogue, key)
      if (setting === undefined) return { kind: 'unknown', key }
      const read = readSetting(setting, value)
      if (!read.ok) return { kind: 'invalid', key, problem: read.problem }
      drafted.set(key, read.value)
    }
    const changed = { ...values, ...Object.fromEntries([...drafted].filter(([key]) => key in SETTINGS)) }
    const problem = contradictionIn(changed)
    const [first = ''] = drafted.keys()
    if (problem !== null) return { kind: 'invalid', key: first, problem }
    const valueOf = (key: string): number => Number(drafted.get(key) ?? present(entries.get(key), key).value)
    const isRepriced = [...drafted.keys()].some((key) => SCORING_SETTINGS.has(key) || key === 'trading.protection')
    return {
      kind: 'valid',
      was: { rules, model },
      would: {
        rules: rulesFrom(changed, rules.modes),
        model: isRepriced ? priced(changed, modelFrom(valueOf)) : model,
      },
    }
  }

  /** Changes a setting that is not a flag. In force here when it resolves, elsewhere at the next `refresh`. */
  async set(change: SettingChange): Promise<SettingOutcome> {
    return change.key.startsWith(FLAG_PREFIX) ? { kind: 'unknown' } : this.#set(change)
  }

  /** Sets a flag; one with a new key is created. */
  async setFlag({ key, enabled, by, reason }: FlagChange): Promise<FlagOutcome> {
    assert(isFlagKey(key), `${key} is no key of a flag`)
    const name = flagKey(key)
    const isFull = await this.#options.db.transaction().execute(async (tx) => {
      const { rows } = await this.#lock(tx)
      const own = [...rows.keys()].filter((each) => each.startsWith(FLAG_PREFIX) && !this.#catalogue.has(each))
      if (!this.#catalogue.has(name) && !rows.has(name) && own.length >= FLAGS_MAX) return true
      const before = rows.get(name)?.value ?? this.#catalogue.get(name)?.default ?? null
      await this.#put(tx, { key: name, value: enabled, by, before, reason })
      return false
    })
    if (isFull) return { kind: 'full', max: FLAGS_MAX }
    await this.refresh()
    const entry = this.#inForce.entries.get(name) ?? defaultEntry(name, OWN_FLAG)
    return { kind: 'set', entry: { ...entry, key } }
  }

  /** Removes a flag that operators have created. */
  async removeFlag(key: string, by: UserId): Promise<'removed' | 'unknown' | 'built_in'> {
    const { db, audit } = this.#options
    const name = flagKey(key)
    if (this.#catalogue.has(name)) return 'built_in'
    const isRemoved = await db.transaction().execute(async (tx) => {
      const { rows } = await this.#lock(tx)
      const before = rows.get(name)
      if (before === undefined) return false
      await tx.deleteFrom('settings').where('key', '=', name).execute()
      await audit.record({ actor: by, action: 'flag.remove', subject: name, before: before.value, after: null }, tx)
      await sql`update settings_version set version = version + 1`.execute(tx)
      return true
    })
    if (isRemoved) await this.refresh()
    return isRemoved ? 'removed' : 'unknown'
  }

  /** Adopts changes made by other processes. Rejects when the database is unavailable. */
  async refresh(): Promise<void> {
    const look = this.#looking.then(() => this.#look())
    this.#looking = look.catch(() => undefined)
    return look
  }

  /** Calls `listener` after each change that is in force here, until the returned function is called. */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async #look(): Promise<void> {
    const { db, report } = this.#options
    const { version } = await db.selectFrom('settings_version').select('version').executeTakeFirstOrThrow()
    if (version === this.#inForce.version) return
    const before = this.#inForce
    this.#inForce = inForceFrom(this.#catalogue, await load(db), report)
    const changed = changedKeys(before, this.#inForce)
    if (changed.size === 0) return
    for (const listener of this.#listeners) {
      try {
        listener(changed)
      } catch (error) {
        report('settings_listener_failed', error)
      }
    }
  }

  async #set({ key, value, by, reason }: SettingChange): Promise<SettingOutcome> {
    const setting = settingOf(this.#catalogue, key)
    if (setting === undefined) return { kind: 'unknown' }
    const read = readSetting(setting, value)
    if (!read.ok) return { kind: 'invalid', problem: read.problem }
    const problem = await this.#options.db
      .transaction()
      .execute((tx) => this.#write(tx, { key, value: read.value, by, reason }))
    if (problem !== null) return { kind: 'invalid', problem }
    await this.refresh()
    return { kind: 'set', entry: this.#inForce.entries.get(key) ?? defaultEntry(key, setting) }
  }

  /** Writes one value with its audit row, or returns why it is invalid beside the others. */
  async #write(tx: Transaction<Database>, change: Omit<Write, 'before'>): Promise<string | null> {
    const { key, value } = change
    const known = (): void => undefined // invalid values were reported when they were read
    const stored = await this.#lock(tx)
    const held = inForceFrom(this.#catalogue, stored, known).entries.get(key)
    const before = held?.value ?? settingOf(this.#catalogue, key)?.default ?? null
    const entry = { value, updatedAt: this.#options.world.now(), updatedBy: null }
    const rows = new Map(stored.rows).set(key, entry)
    const problem = contradictionIn(inForceFrom(this.#catalogue, { ...stored, rows }, known).values)
    if (problem !== null) return problem
    await this.#put(tx, { ...change, before })
    return null
  }

  /** What is stored. Until the transaction ends, others wait to change it. */
  async #lock(tx: Transaction<Database>): Promise<Loaded> {
    await sql`select from settings_version for update`.execute(tx)
    return load(tx)
  }

  async #put(tx: Transaction<Database>, { key, value, by, before, reason }: Write): Promise<void> {
    const { world, audit } = this.#options
    if (scopedSetting(key) !== null && value === 'open') {
      await tx.deleteFrom('settings').where('key', '=', key).execute()
    } else {
      const row = { value: JSON.stringify(value), updated_at: new Date(world.now()), updated_by: by }
      await tx
        .insertInto('settings')
        .values({ key, ...row })
        .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
        .execute()
    }
    await audit.record({ actor: by, action: 'setting.set', subject: key, before, after: value, reason }, tx)
    await sql`update settings_version set version = version + 1`.execute(tx)
  }
}

interface Write {
  readonly key: string
  readonly value: SettingValue
  readonly by: UserId
  /** Null for none. */
  readonly before: unknown
  readonly reason: string | undefined
}

interface Loaded {
  readonly version: number
  readonly rows: ReadonlyMap<string, Stored>
}

/** Every stored value with its version, in one statement and so as of one snapshot. */
async function load(db: Kysely<Database>): Promise<Loaded> {
  const rows = await db
    .selectFrom('settings_version')
    .leftJoin('settings', (on) => on.onTrue())
    .leftJoin('users', 'users.id', 'settings.updated_by')
    .select(['version', 'key', 'value', 'updated_at', 'username'])
    .orderBy('key')
    .execute()
  const stored = new Map<string, Stored>()
  for (const { key, value, updated_at, username } of rows) {
    if (key === null || updated_at === null) continue
    stored.set(key, { value, updatedAt: instant(updated_at.getTime()), updatedBy: username })
  }
  return { version: present(rows[0], 'version of the settings').version, rows: stored }
}

const defaultEntry = (key: string, setting: Setting): SettingEntry => {
  return { key, setting, value: setting.default, updatedAt: null, updatedBy: null }
}

function inForceFrom(catalogue: Catalogue, { version, rows }: Loaded, report: Report): InForce {
  const entries = new Map([...catalogue].map(([key, setting]) => [key, defaultEntry(key, setting)]))
  for (const [key, { value, updatedAt, updatedBy }] of rows) {
    const setting = settingOf(catalogue, key)
    if (setting === undefined) continue // of another version of this program
    const read = readSetting(setting, value)
    if (!read.ok) report('setting_unreadable', new Error(`${key} ${read.problem}`), { key, value })
    entries.set(key, { key, setting, value: read.ok ? read.value : unreadable(setting), updatedAt, updatedBy })
  }
  const valueOf = (key: string): SettingValue => present(entries.get(key), key).value
  const numberOf = (key: string): number => Number(valueOf(key))
  const values = Object.fromEntries(Object.keys(SETTINGS).map((key) => [key, valueOf(key)])) as SettingValues
  const flags = Object.fromEntries(
    [...entries.values()].flatMap(({ key, value }) =>
      key.startsWith(FLAG_PREFIX) ? [[key.slice(FLAG_PREFIX.length), value === true]] : [],
    ),
  ) as Flags
  const scoped = [...entries.values()].filter(({ key }) => scopedSetting(key) !== null)
  return {
    version,
    entries,
    values,
    flags,
    rules: rulesFrom(
      values,
      modesFrom(values['trading.mode'], new Map(scoped.map((one) => [one.key, modeOf(one.value)]))),
    ),
    model: priced(values, modelFrom(numberOf)),
  }
}

/** An unreadable value must not open what an operator meant to close. */
const unreadable = (setting: Setting): SettingValue =>
  setting.type === 'choice' ? setting.whenUnreadable : setting.default

const modeOf = (value: SettingValue): TradingMode => TRADING_MODES.find((mode) => mode === value) ?? 'halted'

function changedKeys(before: InForce, after: InForce): ReadonlySet<string> {
  const keys = new Set([...before.entries.keys(), ...after.entries.keys()])
  return new Set([...keys].filter((key) => before.entries.get(key)?.value !== after.entries.get(key)?.value))
}
