/** The star that follows a player, and the price to wait for. */
import { useEffect, useRef } from 'preact/hooks'
import { units } from '../../format.ts'
import { html } from '../../html.ts'
import { instruments, quoteOf } from '../../market.ts'
import { api } from '../../session.ts'
import { toast } from '../../toasts.ts'
import { say, wordsOf } from '../../words.ts'
import type { PlayerProps } from '../feature.ts'
import { changeFollows, draft, followed } from './state.ts'
import { said } from './words.ts'

const own = wordsOf(said)

const nameIn = (id: string): string => instruments.value.get(id)?.name ?? own.aPlayer

/** In the list the arrow keys go from player to player, so Tab finds the star below the chart. */
export function PlayerTools({ instrumentId, place }: PlayerProps) {
  const isOn = followed.value.has(instrumentId)
  if (place === 'shirt')
    return isOn ? html`<span class="star-mark" role="img" aria-label=${own.isFollowed}>★</span>` : null
  return html`
    <button
      class="star"
      tabindex=${place === 'list' ? -1 : 0}
      aria-pressed=${isOn}
      aria-label=${say(own.follow, { player: nameIn(instrumentId) })}
      onClick=${() => void changeFollows(() => api.follow(instrumentId, !isOn))}
    >
      ${isOn ? '★' : '☆'}
    </button>
    ${place === 'chart' ? html`<${AlertForm} instrumentId=${instrumentId} />` : null}
  `
}

/** Closed with the player's chart. */
function AlertForm({ instrumentId }: { instrumentId: string }) {
  const [field, toggle] = [useRef<HTMLInputElement>(null), useRef<HTMLButtonElement>(null)]
  const isByKey = useRef(false)
  const isOpen = draft.value?.instrumentId === instrumentId
  useEffect(() => () => void (draft.value = null), [instrumentId])
  useEffect(() => {
    // A finger may want the chart, not the keys of a phone.
    if (!isOpen || !isByKey.current) return
    field.current?.focus()
    return () => toggle.current?.focus()
  }, [isOpen])
  const turn = (event: MouseEvent): void => {
    isByKey.current = event.detail === 0
    draft.value = isOpen ? null : { instrumentId, level: quoteOf(instrumentId).peek().price.toFixed(2) }
  }
  const button = html`<button class="toggle" ref=${toggle} aria-expanded=${isOpen} onClick=${turn}>
    ${own.alert}
  </button>`
  if (draft.value === null || !isOpen) return button
  const { level } = draft.value
  const set = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (!(await changeFollows(() => api.addAlert({ instrumentId, level: Number(level) })))) return
    draft.value = null
    const text = say(own.alertText, { player: nameIn(instrumentId), level: units(Number(level)) })
    toast({ tone: 'good', title: own.alertSet, text })
  }
  return html`
    ${button}
    <form
      class="alert-at"
      onSubmit=${(event: Event) => void set(event)}
      onKeyDown=${(event: KeyboardEvent) => {
        if (event.key === 'Escape') draft.value = null
      }}
    >
      <label>
        ${own.alertAt}
        <input
          type="number"
          required
          ref=${field}
          min="0.01"
          step="0.01"
          value=${level}
          onInput=${(event: InputEvent) => (draft.value = { instrumentId, level: (event.target as HTMLInputElement).value })}
        />
      </label>
      <button class="small">${own.set}</button>
      <small>${own.orTap}</small>
    </form>
  `
}
