/** The rules of the game that SQL repeats (rules.sql): their text for `migrate`, and their names for statements. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { sql, type RawBuilder } from 'kysely'
import { assert, present } from '../../actors/kernel/assert.ts'
import { CONTRACT_SIZE, PRICE_MIN } from '../../actors/kernel/limits.ts'
import { MICROS_MAX, MICROS_PER_UNIT } from '../../actors/kernel/micros.ts'
import { installedName, type Repeatable } from './repeatable.ts'

/** What stands for {NAME} in the SQL texts. */
const CONSTANTS: Readonly<Record<string, string>> = {
  MICROS_MAX: String(MICROS_MAX),
  PRICE_MIN: String(PRICE_MIN),
  UNITS_A_LOT: (CONTRACT_SIZE / MICROS_PER_UNIT).toFixed(6),
}

const withConstants = (text: string): string =>
  text.replaceAll(/\{([A-Z_]+)\}/g, (_, name: string) => present(CONSTANTS[name], name))

const NAMES = ['own_limit', 'own_limits_forbid', 'own_bounds', 'exit_price', 'pnl_at', 'unsettled_proceeds'] as const

const TEXT = withConstants(readFileSync(new URL('./rules.sql', import.meta.url), 'utf8'))
const created = [...TEXT.matchAll(/^create function (\w+)\(/gm)].map(([, name]) => name)
assert(String(created) === String(NAMES), `rules.sql creates ${String(created)}`)

const DIGEST = createHash('sha256').update(TEXT).digest('hex')
const CALLS = new RegExp(String.raw`\b(${NAMES.join('|')})\(`, 'g')

/** The text with constants of the game, and with the rules of this version where it calls rules. */
export const withRules = (text: string): string =>
  withConstants(text).replaceAll(CALLS, (_, name: string) => `${installedName(name, DIGEST)}(`)

/** All of them under one digest: whichever changes, a version keeps calling its own. */
export const RULES: Repeatable = {
  name: 'rules',
  digest: DIGEST,
  installedAs: installedName('rules', DIGEST),
  // One statement, which is all that an embedded database takes at a time.
  statement: `do $rules$ begin\n${withRules(TEXT)}\nend $rules$`,
}

/** A rule as a statement calls it. */
export const rule = (name: (typeof NAMES)[number]): RawBuilder<unknown> => sql.id(installedName(name, DIGEST))
