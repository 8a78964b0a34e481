/** A table of the control room. On a phone each row becomes a block in which every cell has its column's name. */
import { html } from '../html.ts'

type Cell = ReturnType<typeof html> | string | number | null

interface TableProps {
  /** For screen readers. */
  readonly label: string
  /** Those that begin with # hold numbers. */
  readonly columns: readonly string[]
  /** The first cell of each row names it. */
  readonly rows: readonly (readonly Cell[])[]
}

export type Rows = TableProps['rows']

export function Table({ label, columns, rows }: TableProps) {
  const classOf = (n: number): string | undefined => (columns[n]?.startsWith('#') === true ? 'num' : undefined)
  const nameOf = (n: number): string => (columns[n] ?? '').replace('#', '')
  return html`
    <div class="scroll stacked" tabindex="0" role="region" aria-label=${label}>
      <table>
        <thead>
          <tr>
            ${columns.map((_, n) => html`<th key=${n} scope="col" class=${classOf(n)}>${nameOf(n)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ([name, ...cells], row) =>
              html`<tr key=${row}>
                <th scope="row">${name}</th>
                ${cells.map((cell, n) => html`<td class=${classOf(n + 1)} data-column=${nameOf(n + 1)}>${cell}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  `
}
