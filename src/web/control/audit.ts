/** The audit log, newest first. */
import { dayTime } from '../format.ts'
import { html } from '../html.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { operations } from './operations.ts'

export function AuditLog() {
  const { answer, trouble } = useRequest(() => operations.audit())
  return html`
    <section class="card" aria-labelledby="audit-title">
      <header><h2 id="audit-title">Audit log</h2></header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : answer.entries.length === 0
            ? html`<p class="empty">No changes yet.</p>`
            : html`<div class="scroll" tabindex="0" role="region" aria-label="Entries">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">When</th>
                      <th scope="col">Who</th>
                      <th scope="col">What</th>
                      <th scope="col">Before</th>
                      <th scope="col">After</th>
                      <th scope="col">Outcome</th>
                    </tr>
                  </thead>
                  <tbody>
                    ${answer.entries.map(
                      ({ id, at, actor, action, subject, before, after, outcome }) => html`
                        <tr key=${id}>
                          <td>${dayTime(at)}</td>
                          <td>${actor?.username ?? 'system'}</td>
                          <th scope="row">${action} <small>${subject}</small></th>
                          <td><code>${short(before)}</code></td>
                          <td><code>${short(after)}</code></td>
                          <td>${outcome}</td>
                        </tr>
                      `,
                    )}
                  </tbody>
                </table>
              </div>`
      }
    </section>
  `
}

const short = (value: unknown): string => (JSON.stringify(value) ?? '–').slice(0, 80)
