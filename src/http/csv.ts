/** CSV (RFC 4180) in which no field is a spreadsheet formula. */

/** Spreadsheets run a field that begins like this as a formula, full-width forms too; an apostrophe makes it text. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/
const SPECIAL = /[",\r\n]/

export type CsvField = string | number | boolean | null

/** One record with its line break. Numbers need no apostrophe: a negative one is not a formula. */
export const csvRecord = (fields: readonly CsvField[]): string => `${fields.map(field).join(',')}\r\n`

function field(value: CsvField): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
