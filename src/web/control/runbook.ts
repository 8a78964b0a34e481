/** The runbook, one section at a time. */
import { html } from '../html.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { item } from '../route.ts'
import { operations } from './operations.ts'

interface Section {
  readonly anchor: string
  readonly title: string
  readonly lines: readonly string[]
}

const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(/\s+/g, '-')

export function Runbook() {
  const { answer, trouble } = useRequest(() => operations.runbook())
  if (answer === null) return html`<section class="card"><${Waiting} trouble=${trouble} /></section>`
  const sections = sectionsOf(answer.markdown)
  const shown = sections.find(({ anchor }) => anchor === item.value) ?? sections[0]
  if (shown === undefined) return null
  return html`
    <div class="columns runbook">
      <nav class="card" aria-label="Runbook">
        <ul class="rows inside">
          ${sections.map(
            ({ anchor, title }) => html`
              <li key=${anchor}>
                <a href="#/control/runbook/${anchor}" aria-current=${anchor === shown.anchor ? 'page' : undefined}
                  >${title}</a
                >
              </li>
            `,
          )}
        </ul>
      </nav>
      <section class="card inside" aria-labelledby="section-title">
        <h2 id="section-title">${shown.title}</h2>
        <pre tabindex="0" role="region" aria-label="Text">${shown.lines.join('\n').trim()}</pre>
      </section>
    </div>
  `
}

/** By its headings; lines that look like one in a block of commands are none. */
function sectionsOf(markdown: string): readonly Section[] {
  const sections: { anchor: string; title: string; lines: string[] }[] = []
  let isCommands = false
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) isCommands = !isCommands
    const [, title] = isCommands ? [] : (/^#{1,3} (.*)$/.exec(line) ?? [])
    if (title === undefined) sections.at(-1)?.lines.push(line)
    else sections.push({ anchor: anchorOf(title), title, lines: [] })
  }
  return sections.filter(({ lines }) => lines.some((line) => line.trim() !== ''))
}
