/** Reads TypeScript sources for checks of the repository: code without comments, imports, exports. */
import { parseSync, type Program, type Statement, Visitor } from 'oxc-parser'

export interface Import {
  readonly specifier: string
  /** `import type`, which is erased. Inline `type` modifiers do not count: the module is still evaluated. */
  readonly typeOnly: boolean
  /** The imported names; `*` for everything. */
  readonly names: readonly string[]
  readonly line: number
}

export interface Export {
  readonly name: string
  readonly kind: 'value' | 'type'
  readonly line: number
}

interface Span {
  readonly start: number
  readonly end: number
}

interface Source {
  readonly program: Program
  /** Comments and regular expressions. */
  readonly blanks: readonly Span[]
  /** The text inside the quotes of strings and between the code of templates. */
  readonly texts: readonly Span[]
  /** Every string; for a template with code in it, its beginning. */
  readonly strings: readonly Span[]
  readonly dynamicImports: readonly Import[]
}

const parsed = new Map<string, Source>()

/** Parses a source once, since every check asks again. */
function parse(source: string): Source {
  const known = parsed.get(source) ?? read(source)
  parsed.set(source, known)
  return known
}

function read(source: string): Source {
  const { program, comments, errors } = parseSync('source.ts', source)
  if (errors[0] !== undefined) throw new Error(`cannot be parsed: ${errors[0].message}\n${source.slice(0, 200)}`)
  const blanks: Span[] = [...comments]
  const texts: Span[] = []
  const strings: Span[] = []
  const dynamicImports: Import[] = []
  new Visitor({
    Literal(node) {
      if ('regex' in node) blanks.push(node)
      if (typeof node.value !== 'string') return
      const inside = { start: node.start + 1, end: node.end - 1 }
      texts.push(inside)
      strings.push(inside)
    },
    TemplateLiteral({ quasis }) {
      for (const [n, { start, value }] of quasis.entries()) {
        const inside = { start: start + 1, end: start + 1 + value.raw.length }
        texts.push(inside)
        if (n === 0) strings.push(inside)
      }
    },
    ImportExpression({ source: from, start }) {
      if (from.type !== 'Literal' || typeof from.value !== 'string') return
      dynamicImports.push({ specifier: from.value, typeOnly: false, names: ['*'], line: lineOf(source, start) })
    },
  }).visit(program)
  return { program, blanks, texts, strings, dynamicImports }
}

/** The source with everything that is not code blanked. Length and line breaks stay, so offsets fit the source. */
export function codeOf(source: string, strings: 'blank' | 'keep' = 'blank'): string {
  const { blanks, texts } = parse(source)
  let code = ''
  for (const { start, end } of [...blanks, ...(strings === 'keep' ? [] : texts)].toSorted(
    (a, b) => a.start - b.start,
  )) {
    code += source.slice(code.length, start) + source.slice(start, end).replace(/[^\n]/g, ' ')
  }
  return code + source.slice(code.length)
}

export const lineOf = (source: string, offset: number): number => source.slice(0, offset).split('\n').length

/** Imports, re-exports and dynamic imports of a literal. */
export function importsOf(source: string): Import[] {
  const { program, dynamicImports } = parse(source)
  const found = program.body.flatMap((statement) => {
    const from = takes(statement)
    return from === null ? [] : [{ ...from, line: lineOf(source, statement.start) }]
  })
  return [...found, ...dynamicImports]
}

/** The imports of a statement, by their original names; null for any other statement. */
function takes(statement: Statement): Omit<Import, 'line'> | null {
  if (statement.type === 'ExportAllDeclaration') {
    return { specifier: statement.source.value, typeOnly: statement.exportKind === 'type', names: ['*'] }
  }
  if (statement.type === 'ExportNamedDeclaration' && statement.source !== null) {
    const names = statement.specifiers.map(({ local }) => nameOf(local))
    return { specifier: statement.source.value, typeOnly: statement.exportKind === 'type', names }
  }
  if (statement.type !== 'ImportDeclaration') return null
  const names = statement.specifiers.flatMap((specifier) => {
    if (specifier.type === 'ImportNamespaceSpecifier') return ['*']
    return specifier.type === 'ImportSpecifier' ? [nameOf(specifier.imported)] : []
  })
  return { specifier: statement.source.value, typeOnly: statement.importKind === 'type', names }
}

const nameOf = (node: { readonly name: string } | { readonly value: string }): string =>
  'name' in node ? node.name : node.value

/** Named exports declared in the file, re-exports not included. */
export function exportsOf(source: string): Export[] {
  return parse(source).program.body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration' || statement.declaration === null) return []
    const { declaration } = statement
    const line = lineOf(source, statement.start)
    if (declaration.type === 'VariableDeclaration') {
      return declaration.declarations.flatMap(({ id }) =>
        id.type === 'Identifier' ? [{ name: id.name, kind: 'value' as const, line }] : [],
      )
    }
    if (!('id' in declaration) || declaration.id?.type !== 'Identifier') return []
    const isType = declaration.type === 'TSInterfaceDeclaration' || declaration.type === 'TSTypeAliasDeclaration'
    return [{ name: declaration.id.name, kind: isType ? ('type' as const) : ('value' as const), line }]
  })
}

/** Every string literal of the code itself, not those inside others; for a template with code in it, its beginning. */
export function stringsOf(source: string): { readonly text: string; readonly line: number }[] {
  return parse(source).strings.map(({ start, end }) => ({
    text: source.slice(start, end),
    line: lineOf(source, start),
  }))
}
