/** The gate's part of `npm run ops -- feed-troubles`: what a feed does wrong leaves no trace in a match. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { edited } from '../support/mutants.ts'
import { differencesOf, kindsOf } from './metamorphic.ts'
import { MUTATIONS } from './mutations.ts'

/** They disturb a match in every way. */
const MATCHES = 10

it(
  'no disturbance of the feed moves a price, closes a position or changes a settlement',
  { timeout: 600_000 },
  async () => {
    for (let seed = 1; seed <= MATCHES; seed += 1) {
      const kinds = kindsOf(seed)
      expect(await differencesOf({ seed, kinds }), `seed ${seed}: ${kinds.join(', ')}`).toEqual([])
    }
  },
)

it('every rule can still be removed, exactly once', () => {
  for (const edit of MUTATIONS.flatMap(({ edits }) => edits)) {
    const text = readFileSync(join(import.meta.dirname, '../..', edit.file), 'utf8')
    expect(edited(text, edit)).not.toBe(text)
  }
})
