/**
 * Reads TypeScript sources as text, well enough for checks of the repository itself: what is code, what is imported,
 * what is exported. It knows the subset of the language this project is written in.
 */

export interface Import {
  readonly specifier: string
  /** `import type`, which is erased. Inline `type` modifiers do not count: the module is still evaluated. */
  readonly typeOnly: boolean
  /** What is taken from the module; `*` for everything. */
  readonly names: readonly string[]
  readonly line: number
}

export interface Export {
  readonly name: string
  readonly kind: 'value' | 'type'
  readonly line: number
}

const QUOTES = `'"`

/**
 * The source with everything that is not code blanked: comments, regular expressions, and what is inside strings and
 * templates (their quotes stay, and so does code in `${}`). Length and line breaks stay, so offsets fit the source.
 */
export function codeOf(source: string, strings: 'blank' | 'keep' = 'blank'): string {
  let code = ''
  let at = 0
  let depth = 0
  const templates: number[] = [] // the brace depth at which the text of each open template goes on

  const copy = (end: number) => {
    code += source.slice(at, end)
    at = end
  }
  const blank = (end: number) => {
    code += source.slice(at, end).replace(/[^\n]/g, ' ')
    at = end
  }
  const text = (end: number) => (strings === 'keep' ? copy(end) : blank(end))
  const templateText = () => {
    const end = endOf(source, at, (i) => source[i] === '`' || source.startsWith('${', i))
    text(end)
    if (source[end] === '$') templates.push(depth)
    copy(end + (source[end] === '$' ? 2 : 1))
  }

  while (at < source.length) {
    const char = source.charAt(at)
    if (source.startsWith('//', at)) blank(indexOrEnd(source, '\n', at))
    else if (source.startsWith('/*', at)) blank(indexOrEnd(source, '*/', at) + 2)
    else if (QUOTES.includes(char)) {
      copy(at + 1)
      text(endOf(source, at, (i) => source[i] === char))
      copy(at + 1)
    } else if (char === '`') {
      copy(at + 1)
      templateText()
    } else if (char === '}' && templates.at(-1) === depth) {
      templates.pop()
      copy(at + 1)
      templateText()
    } else if (char === '/' && regexMayBegin(code)) {
      blank(endOfRegex(source, at))
    } else {
      depth += char === '{' ? 1 : char === '}' ? -1 : 0
      copy(at + 1)
    }
  }
  return code
}

/** A slash begins a regular expression where a value may begin; elsewhere it divides. */
function regexMayBegin(codeBefore: string): boolean {
  return /(^|[(,=:[!&|?{;+*%<>~^-]|\b(return|typeof|case|of|in))$/.test(codeBefore.slice(-40).trimEnd())
}

function endOfRegex(source: string, start: number): number {
  let inClass = false
  return (
    1 +
    endOf(source, start + 1, (i) => {
      if (source[i] === '[') inClass = true
      if (source[i] === ']') inClass = false
      return source[i] === '/' && !inClass
    })
  )
}

/** The first offset from `start` that ends something, skipping whatever a backslash precedes. */
function endOf(source: string, start: number, ends: (at: number) => boolean): number {
  let at = start
  while (at < source.length && !ends(at)) at += source[at] === '\\' ? 2 : 1
  return Math.min(at, source.length)
}

function indexOrEnd(source: string, wanted: string, from: number): number {
  const index = source.indexOf(wanted, from)
  return index === -1 ? source.length : index
}

export const lineOf = (source: string, offset: number): number => source.slice(0, offset).split('\n').length

/** Imports, re-exports and dynamic imports of a literal. */
export function importsOf(source: string): Import[] {
  const code = codeOf(source)
  const found: Import[] = []
  const statement =
    /^(?:import|export)\s+(type\s+)?((?:[\w$]+\s*,?\s*)?(?:\{[^}]*\}|\*(?:\s+as\s+[\w$]+)?)?\s*from\s*)?['"]/gm
  for (const match of code.matchAll(statement)) {
    if (match[0].startsWith('export') && match[2] === undefined) continue // export of a literal
    const specifier = stringAt(source, match.index + match[0].length)
    const names = match[2]?.includes('*') === true ? ['*'] : namesIn(match[2] ?? '')
    found.push({ specifier, typeOnly: match[1] !== undefined, names, line: lineOf(source, match.index) })
  }
  for (const match of code.matchAll(/\bimport\(\s*['"]/g)) {
    const specifier = stringAt(source, match.index + match[0].length)
    found.push({ specifier, typeOnly: false, names: ['*'], line: lineOf(source, match.index) })
  }
  return found
}

/** The original names in `{ a, type b, c as d }`. */
function namesIn(clause: string): string[] {
  const list = /\{([^}]*)\}/.exec(clause)?.[1] ?? ''
  return list.split(',').flatMap((item) => /^\s*(?:type\s+)?([\w$]+)/.exec(item)?.[1] ?? [])
}

function stringAt(source: string, start: number): string {
  const quote = source.charAt(start - 1)
  return source.slice(
    start,
    endOf(source, start, (i) => source[i] === quote),
  )
}

/** Named exports declared in the file, re-exports not included. */
export function exportsOf(source: string): Export[] {
  const declaration =
    /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(const|let|function\*?|class|interface|type)\s+([\w$]+)/gm
  return [...codeOf(source).matchAll(declaration)].map((match) => ({
    name: match[2] ?? '',
    kind: match[1] === 'interface' || match[1] === 'type' ? 'type' : 'value',
    line: lineOf(source, match.index),
  }))
}

/** Every string literal of the code itself, not those inside others; of a template with code in it, the beginning. */
export function stringsOf(source: string): { readonly text: string; readonly line: number }[] {
  return [...codeOf(source).matchAll(/'\s*'|"\s*"|`\s*(?:`|\$\{)/g)].map((match) => ({
    text: source.slice(match.index + 1, match.index + match[0].length).replace(/(?:['"`]|\$\{)$/, ''),
    line: lineOf(source, match.index),
  }))
}
