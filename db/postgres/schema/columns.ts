/**
 * Column types of rows. Money, prices and lots are integer millionths; the int8 parser of `connect.ts` yields numbers.
 */
import type { ColumnType } from 'kysely'

/** Written as a Date or as text, read back as a Date. */
export type Timestamp = ColumnType<Date, Date | string, Date | string>
/** The same with a default. */
export type DefaultTimestamp = ColumnType<Date, Date | string | undefined, Date | string>
/** Written as text, read back parsed: as `unknown`, which readers turn into a type. */
export type Json = ColumnType<unknown, string, string>
