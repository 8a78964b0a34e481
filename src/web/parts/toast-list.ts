/** The visible toasts, announced by screen readers as they arrive. */
import { html } from '../html.ts'
import { dismiss, toasts } from '../toasts.ts'
import { Icon } from './icons.ts'
import { words } from '../words.ts'

export const Toasts = () => html`
  <div class="toasts" role="status" aria-live="polite">
    ${toasts.value.map(
      ({ id, tone, title, text, to, action }) => html`
        <div class="toast ${tone}" key=${id}>
          <div>
            <strong
              >${to === undefined ? title : html`<a href="#/${to}" onClick=${() => dismiss(id)}>${title}</a>`}</strong
            >
            <p>${text}</p>
            ${action === undefined ? null : html`<button class="small" onClick=${() => (dismiss(id), action.run())}>${action.label}</button>`}
          </div>
          <button class="bare" aria-label=${words.common.dismiss} onClick=${() => dismiss(id)}>
            <${Icon} name="close" />
          </button>
        </div>
      `,
    )}
  </div>
`
