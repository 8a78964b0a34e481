/** The order of the test files: those that wait most come first, so that others compute meanwhile. */
import { createHash } from 'node:crypto'
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files of more than half a minute on an idle machine, most of it waiting. Without this they end a run alone. */
const LONG = [
  'test/web/browser.e2e.test.ts',
  'test/rooms/tournament.long.e2e.test.ts',
  ...['cluster', 'conformance', 'live-provider', 'admin', 'restart', 'sockets'].map(
    (name) => `test/e2e/${name}.e2e.test.ts`,
  ),
]

/** Vitest offers its own shuffling no longer, once another order is configured. */
const isShuffled = process.argv.includes('--sequence.shuffle.files')

const pathOf = ({ moduleId }: TestSpecification): string => relative('', moduleId)

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is no array
    const ordered = isShuffled ? this.#shuffled(files) : await super.sort(files)
    const isLong = (file: TestSpecification): boolean => LONG.includes(pathOf(file))
    return [...ordered.filter(isLong), ...ordered.filter((file) => !isLong(file))]
  }

  /** Equal for equal seeds, in every clone. */
  #shuffled(files: readonly TestSpecification[]): TestSpecification[] {
    const { seed } = this.ctx.config.sequence
    const rank = (file: TestSpecification): string =>
      createHash('sha256')
        .update(`${seed} ${pathOf(file)}`)
        .digest('hex')
    return files
      .map((file) => ({ file, at: rank(file) }))
      .toSorted((a, b) => (a.at < b.at ? -1 : 1))
      .map(({ file }) => file)
  }
}
