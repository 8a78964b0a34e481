/** The pieces of the API page: schemas, examples, tables and inline code as HTML. */
import type { Schema } from './documents.ts'

/** The fields of an object as a list, with the fields of nested objects below. Empty for a schema without fields. */
export function fields(schema: Schema): string {
  const parts = [schema, ...(schema.allOf ?? [])]
  const variants = schema.oneOf ?? schema.anyOf
  if (variants !== undefined) {
    const lists = variants.map((one) => fields(one)).filter((one) => one !== '')
    return lists.join('<p class="dim">or</p>')
  }
  const links = parts.flatMap(({ $ref }) => ($ref === undefined ? [] : [`<p>${reference($ref)}</p>`]))
  const own = parts.flatMap(({ properties, required = [] }) =>
    Object.entries(properties ?? {}).map(([name, of]) => field(name, of, required.includes(name))),
  )
  const inner = schema.items === undefined ? '' : fields(schema.items)
  return links.join('') + (own.length === 0 ? inner : `<dl>${own.join('')}</dl>`)
}

function field(name: string, schema: Schema, isRequired: boolean): string {
  const inner = schema.properties === undefined && schema.items?.properties === undefined ? '' : fields(schema)
  const optional = isRequired ? '' : ' <span class="dim">optional</span>'
  return `<dt><code>${text(name)}</code> ${typeOf(schema)}${optional}</dt><dd>${inline(schema.description ?? '')}${inner}</dd>`
}

export function typeOf(schema: Schema): string {
  const { $ref, type, format, enum: choices, const: only, items, allOf, oneOf, anyOf } = schema
  if ($ref !== undefined) return reference($ref)
  if (only !== undefined) return `<code>${text(JSON.stringify(only))}</code>`
  if (choices !== undefined) return choices.map((one) => `<code>${text(JSON.stringify(one))}</code>`).join(' ')
  const linked = allOf?.find((part) => part.$ref !== undefined)
  if (linked !== undefined) return typeOf(linked)
  const variants = oneOf ?? anyOf
  if (variants !== undefined) return [...new Set(variants.map(typeOf))].join(' or ')
  const types = typeof type === 'string' ? [type] : (type ?? ['anything'])
  const of = items === undefined ? '' : ` of ${items.properties === undefined ? typeOf(items) : 'objects'}`
  return `<span class="type">${types.join(' or ')}${format === undefined ? '' : ` (${format})`}</span>${of}`
}

const reference = ($ref: string): string => {
  const name = $ref.slice($ref.lastIndexOf('/') + 1)
  return `<a class="type" href="#schema-${name}">${text(name)}</a>`
}

export const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  `<div class="table"><table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr></thead><tbody>${rows
    .map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
    .join('')}</tbody></table></div>`

export function code(example: unknown): string {
  if (example === undefined) return ''
  if (typeof example === 'string') return `<pre tabindex="0"><code>${text(example)}</code></pre>`
  const json = text(JSON.stringify(example, null, 2))
  const coloured = json.replaceAll(
    /(&quot;(?:[^&]|&(?!quot;))*&quot;)(\s*:)?|\b(true|false|null|-?\d[\d.e+-]*)\b/g,
    (whole, string?: string, colon?: string) => {
      if (string === undefined) return `<i>${whole}</i>`
      return colon === undefined ? `<b>${string}</b>` : `${string}${colon}`
    },
  )
  return `<pre tabindex="0"><code>${coloured}</code></pre>`
}

export const prose = (written: string): string =>
  written
    .split('\n\n')
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('')

export const inline = (written: string): string => text(written).replaceAll(/`([^`]+)`/g, '<code>$1</code>')

export const badge = (method: string): string => `<span class="method ${method}">${method}</span>`
export const anchor = (method: string, path: string): string => slug(`${method} ${path.replace('/api/', '')}`)
export const slug = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

export const text = (raw: string): string =>
  raw.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
