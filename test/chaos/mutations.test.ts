import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { edited } from '../support/mutants.ts'
import { CLUSTER_MUTATIONS } from './mutations.ts'

const ROOT = join(import.meta.dirname, '../..')

it('every protection of the cluster can still be removed, and the rule that would notice has tests', () => {
  const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
  const rules = read('test/RULES.md')
  for (const { edits, check } of CLUSTER_MUTATIONS) {
    for (const edit of edits) expect(edited(read(edit.file), edit)).not.toBe(read(edit.file))
    if ('rule' in check) expect(rules).toContain(`**${check.rule}**`)
  }
})
