/** The audit log, newest first, by person, act, subject and time. */
import { useState } from 'preact/hooks'
import { dayTime } from '../format.ts'
import { html } from '../html.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { item } from '../route.ts'
import { type AuditEntry, type AuditFilter, operations } from './operations.ts'
import { Table } from './table.ts'

const FIELDS = [
  ['actor', 'Who', 'ann', 'text'],
  ['action', 'What', 'setting.set', 'text'],
  ['subject', 'Of what', 'trading.mode', 'text'],
  ['since', 'From', '', 'datetime-local'],
  ['until', 'Until', '', 'datetime-local'],
] as const

type Typed = Readonly<Partial<Record<(typeof FIELDS)[number][0], string>>>

/** What is typed, as the server takes it. */
function filterOf(typed: Typed): AuditFilter {
  const given = Object.entries(typed).filter(([, text]) => text.trim() !== '')
  const isTime = (name: string): boolean => name === 'since' || name === 'until'
  return Object.fromEntries(
    given.map(([name, text]) => [name, isTime(name) ? new Date(text).toISOString() : text.trim()]),
  )
}

export function AuditLog() {
  const [typed, setTyped] = useState<Typed>({ subject: decodeURIComponent(item.value) })
  const [filter, setFilter] = useState(filterOf(typed))
  const [cursors, setCursors] = useState<readonly string[]>([])
  const cursor = cursors.at(-1) ?? null
  // The page before is shown until the next one is there: it knows where it is.
  const ask = async () => ({ ...(await operations.audit(filter, cursor)), cursors })
  const { answer, trouble } = useRequest(ask, [filter], [cursor])
  const pages = answer?.cursors ?? []
  const next = answer?.nextCursor ?? null
  const find = (event: Event): void => {
    event.preventDefault()
    setCursors([])
    setFilter(filterOf(typed))
  }
  return html`
    <section class="card" aria-labelledby="audit-title">
      <header><h2 id="audit-title">Audit log</h2></header>
      <form class="filter inside" onSubmit=${find}>
        ${FIELDS.map(
          ([name, label, example, type]) => html`
            <label key=${name}>
              ${label}
              <input
                type=${type}
                placeholder=${example}
                value=${typed[name] ?? ''}
                onInput=${(event: Event) => setTyped({ ...typed, [name]: (event.target as HTMLInputElement).value })}
              />
            </label>
          `,
        )}
        <button class="primary">Find</button>
      </form>
      ${answer !== null && trouble === null ? null : html`<${Waiting} trouble=${trouble} />`}
      ${
        answer === null
          ? null
          : answer.entries.length === 0
            ? html`<p class="empty">No entry fits.</p>`
            : html`<${Table}
                label="Entries"
                columns=${['What', 'When', 'Who', 'Change', 'Why', 'Outcome']}
                rows=${answer.entries.map(rowOf)}
              />`
      }
      <footer class="pager">
        <button class="small" disabled=${pages.length === 0} onClick=${() => setCursors(pages.slice(0, -1))}>
          Newer
        </button>
        <button class="small" disabled=${next === null} onClick=${() => next !== null && setCursors([...pages, next])}>
          Older
        </button>
      </footer>
    </section>
  `
}

const rowOf = (entry: AuditEntry) => {
  const { at, actor, action, subject, subjectName, reason, outcome } = entry
  return [
    html`<b>${action}</b>
      <small class="subject">${subjectName === null ? subject : `${subjectName} (${subject})`}</small>`,
    dayTime(at),
    actor === null ? 'the server' : html`<a href="#/control/users/${actor.userId}">${actor.username ?? 'erased'}</a>`,
    html`<span class="wraps">${changeWords(entry)}</span>`,
    html`<span class="wraps">${reason ?? '–'}</span>`,
    outcome === 'ok' ? 'ok' : html`<b class="down">${outcome}</b>`,
  ]
}

/** 180 → 60, or the new value field by field. */
export function changeWords({ before, after }: Pick<AuditEntry, 'before' | 'after'>): string {
  if (before === null && after === null) return '–'
  return before === null ? valueWords(after) : `${valueWords(before)} → ${valueWords(after)}`
}

function valueWords(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(valueWords).join(', ')
  if (typeof value !== 'object') return JSON.stringify(value)
  const fields = Object.entries(value).filter(([name]) => name !== 'reason')
  const isTime = (name: string, field: unknown): field is number => name.endsWith('At') && typeof field === 'number'
  return fields
    .map(
      ([name, field]) => `${name} ${isTime(name, field) ? dayTime(new Date(field).toISOString()) : valueWords(field)}`,
    )
    .join(', ')
}
