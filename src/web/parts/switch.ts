/** A checkbox that shows what is in force, also after it was clicked and thought better of, or was refused. */
import { html } from '../html.ts'

interface SwitchProps {
  /** Where no `label` element is around it. */
  readonly label?: string
  readonly isOn: boolean
  readonly onSet: (to: boolean) => void
}

export const Switch = ({ label, isOn, onSet }: SwitchProps) => html`
  <input
    type="checkbox"
    aria-label=${label}
    checked=${isOn}
    onClick=${(event: Event) => {
      event.preventDefault()
      onSet(!isOn)
    }}
  />
`
