/**
 * How the tests run: three workers at most, because an embedded database takes some 500 MB of each. On two cores the
 * third computes while others wait, as most tests of the whole program do.
 */
import { defineConfig } from 'vitest/config'

const report = process.env['TEST_REPORT']

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 3,
    // With isolation, each of 250 files loads the server again, which takes a third of the time. So a file must undo
    // what it changes.
    isolate: false,
    // Bounds for a busy machine, not expectations: no test waits for them.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
  },
})
