/** The text of the specification, cut into the sentences that are quoted: list items by sentence, tables by row. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Sentence {
  /** The heading that it stands under, by its number. */
  readonly section: string
  readonly text: string
}

const lines = readFileSync(join(import.meta.dirname, './specification.txt'), 'utf8').split('\n')
const HEADING = /^#+ ([\d.]*\d)\.? (.*)$/
const RULE = /^\|[-|]+\|$/
/** Between two passages of a quote. */
const GAP = ' … '

/** The titles of the sections by their numbers. */
export const titles: ReadonlyMap<string, string> = new Map(
  lines.flatMap((line) => {
    const [, number, title] = HEADING.exec(line) ?? []
    return number === undefined || title === undefined ? [] : [[number, title] as const]
  }),
)

/** The sentences in their order, without headings and the heads of tables. */
export const sentences: readonly Sentence[] = (() => {
  const found: Sentence[] = []
  let section = ''
  for (const [n, line] of lines.entries()) {
    section = HEADING.exec(line)?.[1] ?? section
    if (line === '' || line.startsWith('#') || RULE.test(line) || RULE.test(lines[n + 1] ?? '')) continue
    const parts = line.startsWith('|') ? [plain(line)] : plain(line).split(/(?<=\.) (?=[A-Z`])/)
    for (const text of parts) found.push({ section, text })
  }
  return found
})()

/** The passages of a quote that the specification does not have. */
export function misquoted(quote: string): string[] {
  const text = lines.map(plain).join('\n')
  return passages(quote).filter((passage) => !text.includes(passage))
}

/** Whether the quote has words of this sentence. */
export const quotes = (quote: string, { text }: Sentence): boolean =>
  passages(quote).some((passage) => text.includes(passage) || passage.includes(text))

const passages = (quote: string): string[] => (quote === '' ? [] : quote.split(GAP).map(plain))

/** Without the marks of lists and tables. */
function plain(line: string): string {
  return line
    .replace(/^(- |\d+\. |#+ |\|)/, '')
    .replace(/\|$/, '')
    .replace(/\s*\|\s*/g, ' | ')
    .trim()
}
