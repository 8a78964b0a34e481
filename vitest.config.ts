/** How the tests run: two workers at most, because an embedded database takes some 500 MB of each. */
import { defineConfig } from 'vitest/config'

const report = process.env['TEST_REPORT']

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Bounds for a busy machine, not expectations: no test waits for them.
    testTimeout: 15_000,
    hookTimeout: 60_000,
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
  },
})
