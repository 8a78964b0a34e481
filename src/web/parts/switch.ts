/** A checkbox that shows what is in force, also after it was clicked and thought better of, or was refused. */
import { html } from '../html.ts'

interface SwitchProps {
  /** Where no `label` element is around it. */
  readonly label?: string
  readonly isOn: boolean
  /** While it takes no other: it keeps the focus. */
  readonly isBusy?: boolean
  readonly onSet: (to: boolean) => void
}

export const Switch = ({ label, isOn, isBusy = false, onSet }: SwitchProps) => html`
  <input
    type="checkbox"
    aria-label=${label}
    aria-disabled=${isBusy}
    checked=${isOn}
    onClick=${(event: Event) => {
      event.preventDefault()
      if (!isBusy) onSet(!isOn)
    }}
  />
`
