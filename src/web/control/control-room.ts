/** The control room of operators. Every action is an API endpoint and leaves an entry in the audit log. */
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { PAGE_FEATURES } from '../features/index.ts'
import { html } from '../html.ts'
import { Loaded } from '../parts/loaded.ts'
import { item, section } from '../route.ts'
import { isAdmin } from '../session.ts'
import { AskDialog } from './ask.ts'
import { Sentence, useConcerns } from './attention.ts'
import { AuditLog } from './audit.ts'
import { Feeds } from './feeds.ts'
import { Health } from './health.ts'
import { Replays } from './replays.ts'
import { SettingsPanel } from './settings.ts'
import { Keys } from './keys.ts'
import { Person } from './person.ts'
import { Runbook, runbook } from './runbook.ts'
import { RiskView } from './risk.ts'
import { Users } from './users.ts'

const PARTS: readonly (readonly [key: string, label: string, part: ComponentType])[] = [
  ['', 'Health', Health],
  ['feeds', 'Feeds', Feeds],
  ['replays', 'Replays', Replays],
  ['settings', 'Settings', SettingsPanel],
  ...PAGE_FEATURES.flatMap(({ sections = [] }) => sections).map(
    ({ key, label, load }) => [key, label, () => html`<${Loaded} key=${key} load=${load} />`] as const,
  ),
  ['users', 'Users', () => (item.value === '' ? html`<${Users} />` : html`<${Person} id=${item.value} />`)],
  ['keys', 'Keys', Keys],
  ['risk', 'Risk', RiskView],
  ['audit', 'Audit', AuditLog],
  ['runbook', 'Runbook', Runbook],
]

export function ControlRoom() {
  return isAdmin.value ? html`<${Room} />` : html`<p class="empty" lang="en">The control room is for admins.</p>`
}

function Room() {
  useConcerns()
  useEffect(() => void runbook().catch(() => undefined), []) // its view says what went wrong
  const [here, , Part] = PARTS.find(([key]) => key === section.value) ?? ['', '', Health]
  return html`
    <div class="page control" lang="en">
      <h1>Control room</h1>
      <${Sentence} />
      <nav class="choice tabs" aria-label="Control room">
        ${PARTS.map(
          ([key, label]) =>
            html`<a href="#/control/${key}" aria-current=${key === here ? 'page' : undefined}>${label}</a>`,
        )}
      </nav>
      <${Part} />
      <${AskDialog} />
    </div>
  `
}
