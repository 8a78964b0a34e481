/**
 * Reads the Markdown of the runbook: headings, paragraphs, lists, tables, blocks of commands, code, emphasis and links.
 * It makes a tree and no HTML, so nothing in a text becomes part of the page.
 */

export type Block =
  | { readonly kind: 'text'; readonly text: readonly Inline[] }
  | { readonly kind: 'commands'; readonly text: string }
  | { readonly kind: 'table'; readonly head: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }
  | { readonly kind: 'list'; readonly first: number | null; readonly items: readonly (readonly Block[])[] }

type Cell = readonly Inline[]

export type Inline =
  | string
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'bold' | 'italic'; readonly text: readonly Inline[] }
  | { readonly kind: 'link'; readonly text: readonly Inline[]; readonly to: string }

export interface Section {
  readonly anchor: string
  readonly title: string
  /** 1 for the title of the whole. */
  readonly depth: number
  readonly blocks: readonly Block[]
}

/** As GitHub makes them, and so as links name them. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(/\s+/g, '-')

/** The text by its headings. Those of chapters, which have no text of their own, are empty. */
export function sectionsOf(markdown: string): readonly Section[] {
  const found: { title: string; depth: number; lines: string[] }[] = []
  let isCommands = false
  for (const line of markdown.split('\n')) {
    if (line.trimStart().startsWith(FENCE)) isCommands = !isCommands
    const [, marks = '', title] = isCommands ? [] : (/^(#{1,3}) (.*)$/.exec(line) ?? [])
    if (title === undefined) found.at(-1)?.lines.push(line)
    else found.push({ title, depth: marks.length, lines: [] })
  }
  return found.map(({ title, depth, lines }) => ({ anchor: anchorOf(title), title, depth, blocks: blocksOf(lines) }))
}

const FENCE = '```'
const ITEM = /^(\s*)(?:[-*]|(\d+)\.) +(.*)$/

const isStart = (line: string): boolean =>
  line.trim() === '' || line.startsWith('|') || line.trimStart().startsWith(FENCE) || ITEM.test(line)

export function blocksOf(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = []
  let at = 0
  /** The lines from here on while they fit. */
  const take = (fits: (line: string) => boolean): string[] => {
    const from = at
    while (at < lines.length && fits(lines[at] ?? '')) at++
    return lines.slice(from, at)
  }
  while (at < lines.length) {
    const line = lines[at] ?? ''
    if (line.trim() === '') at++
    else if (line.trimStart().startsWith(FENCE)) {
      at++
      const text = take((one) => !one.trimStart().startsWith(FENCE))
      at++
      blocks.push({ kind: 'commands', text: outdented(text, line.length - line.trimStart().length).join('\n') })
    } else if (line.startsWith('|')) {
      const [head = [], , ...rows] = take((one) => one.startsWith('|')).map(cellsOf)
      blocks.push({ kind: 'table', head, rows })
    } else if (ITEM.test(line)) blocks.push(listFrom(take))
    else {
      at++
      blocks.push({ kind: 'text', text: inlinesOf([line, ...take((one) => !isStart(one))].map(trimmed).join(' ')) })
    }
  }
  return blocks
}

const trimmed = (line: string): string => line.trim()

const outdented = (lines: readonly string[], by: number): readonly string[] =>
  lines.map((line) => (line.slice(0, by).trim() === '' ? line.slice(by) : line.trimStart()))

/** A list, with what is indented under its items. */
function listFrom(take: (fits: (line: string) => boolean) => string[]): Block {
  const items: (readonly Block[])[] = []
  let first: number | null = null
  for (;;) {
    let isFirst = true
    const [head] = take((line) => isFirst && ((isFirst = false), ITEM.test(line)))
    if (head === undefined) return { kind: 'list', first, items }
    const [, indent = '', number, text = ''] = ITEM.exec(head) ?? []
    if (items.length === 0 && number !== undefined) first = Number(number)
    const isUnder = (line: string): boolean => line.length > indent.length && line.startsWith(`${indent} `)
    let isAfterBlank = false
    const under = take((line) => {
      const isPart = isUnder(line) || (line.trim() === '' ? !isAfterBlank : !isAfterBlank && !isStart(line))
      isAfterBlank = line.trim() === ''
      return isPart
    })
    items.push(blocksOf([text, ...outdented(under, head.length - text.length)]))
  }
}

const cellsOf = (row: string): readonly Cell[] =>
  row
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => inlinesOf(cell.trim().replaceAll('\\|', '|')))

const INLINE = /`([^`]+)`|\*\*(.+?)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)]+)\)/g

export function inlinesOf(text: string): readonly Inline[] {
  const found: Inline[] = []
  let at = 0
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, bold, italic, words, to] = match
    if (match.index > at) found.push(text.slice(at, match.index))
    at = match.index + whole.length
    if (code !== undefined) found.push({ kind: 'code', text: code })
    else if (bold !== undefined) found.push({ kind: 'bold', text: inlinesOf(bold) })
    else if (italic !== undefined) found.push({ kind: 'italic', text: inlinesOf(italic) })
    else found.push({ kind: 'link', text: inlinesOf(words ?? ''), to: to ?? '' })
  }
  if (at < text.length) found.push(text.slice(at))
  return found
}
