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
    // Loading the server anew for each of 250 files takes a third of the time. Files must restore what they change.
    isolate: false,
    // Bounds for a busy machine, not expectations: no test waits for them.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
  },
})
