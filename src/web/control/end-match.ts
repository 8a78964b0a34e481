/** Ends a match for an operator who has been asked twice. */
import { operations } from './operations.ts'
import { runAction } from './run-action.ts'

export async function endMatch(match: { readonly id: number; readonly name: string }, outcome: 'settle' | 'void') {
  const { id, name } = match
  const words = outcome === 'settle' ? 'Settle every position at the last prices' : 'Give every margin back'
  if (!confirm(`End ${name}? ${words}. This cannot be undone.`)) return
  await runAction(`${name}: ended`, () => operations.endMatch(id, outcome))
}
