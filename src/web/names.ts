/** The names of players, also of matches that are over and no longer listed. */
import { signal } from '@preact/signals'
import { instruments } from './market.ts'
import { api } from './session.ts'
import { words } from './words.ts'

/** Names that are asked for in one visit. */
const ASKED_MAX = 60
/** A name that did not come is asked for again after this long, if it is still drawn. */
const AGAIN_MS = 30_000

const learned = signal<ReadonlyMap<string, string>>(new Map())
const asked = new Set<string>()

/** words.common.player until it is known. */
export function nameOf(instrumentId: string): string {
  const known = instruments.value.get(instrumentId)?.name ?? learned.value.get(instrumentId)
  if (known === undefined && instruments.value.size > 0) ask(instrumentId)
  return known ?? words.common.player
}

function ask(id: string): void {
  if (asked.has(id) || asked.size >= ASKED_MAX) return
  asked.add(id)
  api
    .instrument(id)
    .then(({ name }) => (learned.value = new Map([...learned.peek(), [id, name]])))
    .catch(() => setTimeout(() => asked.delete(id), AGAIN_MS))
}
