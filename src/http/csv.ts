/** Rows as CSV (RFC 4180) that a spreadsheet will not take for formulas. */

/** A field that begins like this is run by spreadsheets as a formula; a leading apostrophe makes it text. */
const FORMULA = /^[=+\-@\t\r]/
const SPECIAL = /[",\r\n]/

export type CsvField = string | number | boolean | null

/** One record with its line break. Numbers stand as they are: a negative one is no formula. */
export const csvRecord = (fields: readonly CsvField[]): string => `${fields.map(field).join(',')}\r\n`

function field(value: CsvField): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Text chunks as a body that is made only as fast as it is taken; `chunks` is ended when nobody takes it any more. */
export function streamOf(chunks: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const next = await chunks.next()
      if (next.done === true) controller.close()
      else controller.enqueue(encoder.encode(next.value))
    },
    async cancel() {
      await chunks.return(undefined)
    },
  })
}
