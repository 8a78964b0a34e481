/** The keys of the trading page, for those who have a keyboard. */
import { html } from '../html.ts'
import { areKeysOn, isHelpOpen, turnKeys } from '../shortcuts.ts'
import { words } from '../words.ts'

const KEYS: readonly (readonly [key: string, what: string])[] = [
  ['/', words.shortcuts.find],
  ['J', words.shortcuts.next],
  ['K', words.shortcuts.previous],
  ['L', words.shortcuts.long],
  ['S', words.shortcuts.short],
  ['X', words.shortcuts.close],
  ['?', words.shortcuts.show],
]

export const ShortcutHelp = () => html`
  <section class="card keys-hint" aria-labelledby="shortcuts-title">
    <header>
      <h2 id="shortcuts-title">${words.shortcuts.title}</h2>
      <button
        class="small"
        aria-keyshortcuts="?"
        aria-expanded=${isHelpOpen.value}
        onClick=${() => (isHelpOpen.value = !isHelpOpen.peek())}
      >
        ${isHelpOpen.value ? words.shortcuts.hide : words.shortcuts.show}
      </button>
    </header>
    ${
      isHelpOpen.value
        ? html`<label class="choice inside"
              ><input type="checkbox" checked=${areKeysOn.value} onChange=${() => turnKeys(!areKeysOn.peek())} />
              ${words.shortcuts.on}</label
            >
            <dl class="keys-help">
              ${KEYS.map(
                ([key, what]) =>
                  html`<dt><kbd>${key}</kbd></dt>
                    <dd>${what}</dd>`,
              )}
            </dl>`
        : null
    }
  </section>
`
