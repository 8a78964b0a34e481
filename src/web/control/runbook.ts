/** The runbook, one section at a time, with buttons that copy its commands. */
import { html } from '../html.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { item } from '../route.ts'
import { toast } from '../toasts.ts'
import { anchorOf, type Block, type Inline, sectionsOf } from './markdown.ts'
import { operations } from './operations.ts'

let kept: ReturnType<typeof operations.runbook> | null = null

/** Asked for once, when the control room opens: it is needed when the database does not answer. */
export function runbook(): ReturnType<typeof operations.runbook> {
  kept ??= operations.runbook().catch((error: unknown) => {
    kept = null
    throw error
  })
  return kept
}

export function Runbook() {
  const { answer, trouble } = useRequest(runbook)
  if (answer === null) return html`<section class="card"><${Waiting} trouble=${trouble} /></section>`
  const all = sectionsOf(answer.markdown)
  const sections = all.filter(({ blocks }) => blocks.length > 0)
  const shown = sections.find(({ anchor }) => anchor === item.value) ?? sections[0]
  if (shown === undefined) return null
  const anchors = new Set(sections.map(({ anchor }) => anchor))
  return html`
    <div class="columns runbook">
      <nav class="card" aria-label="Runbook">
        <ul class="rows inside">
          ${all.map(({ anchor, title, blocks }) =>
            blocks.length === 0
              ? html`<li key=${anchor} class="chapter">${title}</li>`
              : html`<li key=${anchor}>
                  <a href="#/control/runbook/${anchor}" aria-current=${anchor === shown.anchor ? 'page' : undefined}
                    >${title}</a
                  >
                </li>`,
          )}
        </ul>
      </nav>
      <article class="card" aria-labelledby="section-title">
        <h2 id="section-title">${shown.title}</h2>
        ${shown.blocks.map((block) => shownBlock(block, anchors))}
      </article>
    </div>
  `
}

function shownBlock(block: Block, anchors: ReadonlySet<string>): ReturnType<typeof html> {
  const inline = (parts: readonly Inline[]) => parts.map((part) => shownInline(part, anchors))
  switch (block.kind) {
    case 'text':
      return html`<p>${inline(block.text)}</p>`
    case 'commands':
      return html`<div class="commands">
        <pre tabindex="0" role="region" aria-label="Commands">${block.text}</pre>
        <${Copy} text=${block.text} />
      </div>`
    case 'table':
      return html`<div class="scroll" tabindex="0" role="region" aria-label="Table">
        <table>
          <thead>
            <tr>
              ${block.head.map((cell) => html`<th scope="col">${inline(cell)}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${block.rows.map(
              (row) =>
                html`<tr>
                  ${row.map((cell) => html`<td>${inline(cell)}</td>`)}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>`
    case 'list': {
      const items = block.items.map((parts) => html`<li>${parts.map((part) => shownBlock(part, anchors))}</li>`)
      return block.first === null
        ? html`<ul>
            ${items}
          </ul>`
        : html`<ol start=${block.first}>
            ${items}
          </ol>`
    }
  }
}

/** Commands, which are copied; a name alone is read. */
const isCommand = (text: string): boolean =>
  /^(adm|npm|curl|psql|pg_|etcdctl|patronictl|redis-cli|kubectl|docker|…) /.test(text)

function shownInline(part: Inline, anchors: ReadonlySet<string>): ReturnType<typeof html> | string {
  if (typeof part === 'string') return part
  if (part.kind === 'code') {
    const code = html`<code>${part.text}</code>`
    return isCommand(part.text) ? html`${code}<${Copy} text=${part.text} />` : code
  }
  const inner = part.text.map((each) => shownInline(each, anchors))
  switch (part.kind) {
    case 'bold':
      return html`<strong>${inner}</strong>`
    case 'italic': {
      // A section is named in italics.
      const anchor = anchorOf(part.text.filter((each) => typeof each === 'string').join(''))
      return anchors.has(anchor) ? html`<a href="#/control/runbook/${anchor}">${inner}</a>` : html`<i>${inner}</i>`
    }
    case 'link':
      return part.to.startsWith('https://')
        ? html`<a href=${part.to} target="_blank" rel="noreferrer">${inner}</a>`
        : html`<b>${inner}</b>` // a document that the page does not have
  }
}

const Copy = ({ text }: { text: string }) => html`
  <button class="small copy" aria-label="Copy ${text.slice(0, 40)}" onClick=${() => void copy(text)}>Copy</button>
`

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast({ tone: 'good', title: 'Copied', text: text.slice(0, 80) })
  } catch {
    toast({ tone: 'bad', title: 'Not copied', text: 'The browser does not allow it. Select the text instead.' })
  }
}
