/**
 * Sums up the test reports (JSON of vitest, JUnit of the conformance suite):
 *
 *   verdict.mjs repeated report.json   the files with a failure, if each of them may run again
 *   verdict.mjs verdict STATUS TESTS report.json again.json suite.xml…
 *                                      says what failed and why, and ends with "N passed, N failed"
 *
 * TESTS is the status of the tests, STATUS that of everything else. If one is not 0 the run failed, even when no report
 * has a failure: types, lint, format, a leak after the tests, or a deployment that did not start. A TESTS of 1 does not
 * count when every file that failed has passed by itself, and no error came from outside all files. How many did stands
 * in report.json.uncaught.
 */
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** The only files that may fail once: what they test keeps time by clocks that no test can move. Five at most. */
const REPEATED = {
  'test/e2e/cluster.e2e.test.ts': 'since 2026-11-28: leases run out by the clock of PostgreSQL while processes freeze',
  'test/e2e/redis-cluster.e2e.test.ts': 'since 2026-11-28: Redis elects a master by its own clock',
  'test/ops/load.e2e.test.ts': 'since 2026-11-28: a crowd, its server and both stores share two cores',
  'test/web/browser.e2e.test.ts': 'since 2026-11-28: Chromium draws, opens sockets and gives them up in its own time',
  'test/web/stadium.e2e.test.ts': 'since 2026-11-28: measures what jumps while a match runs thirty times as fast',
}

const textOf = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '')
const filesOf = (path) => JSON.parse(textOf(path) || '{ "testResults": [] }').testResults
const failedFiles = (files) => files.filter(({ status }) => status === 'failed').map(({ name }) => relative('', name))
const testsOf = (files, wanted) =>
  files.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === wanted)
      .map(({ fullName }) => `${relative('', name)}: ${fullName}`),
  )
/** The tests that failed, and the files in which something else did: a hook, or an import. */
const failuresOf = (files) => [
  ...testsOf(files, 'failed'),
  ...files
    .filter(
      ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((one) => one.status === 'failed'),
    )
    .map(({ name }) => `${relative('', name)}: outside its tests`),
]
/** Why tests failed: of each message the start. They come last, as a log that is cut keeps its end. */
const messagesOf = (files) =>
  files.flatMap(({ message = '', assertionResults }) => [
    message,
    ...assertionResults.flatMap(({ failureMessages = [] }) => failureMessages),
  ])
const shortened = (text) =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.includes('node_modules'))
    .slice(0, 25)
    .join('\n')
    .slice(0, 3_000)
const nameOf = (check) => /\bname="([^"]*)"/.exec(check)?.[1] ?? check

const [, , what, ...rest] = process.argv
if (what === 'repeated') {
  const failed = failedFiles(filesOf(rest[0]))
  if (failed.every((file) => file in REPEATED)) console.log(failed.join('\n'))
} else {
  const [status, tests, first, second, ...suites] = rest
  const [files, again] = [filesOf(first), filesOf(second)]
  const failed = failuresOf(again.length > 0 ? again : files)
  const once = failuresOf(files).filter((test) => !failed.includes(test))
  // A test case is one empty element, or holds why it failed or was skipped. An attribute may contain ">".
  const element = /<testcase(?:\s+[\w-]+="[^"]*")*\s*(?:\/>|>.*?<\/testcase>)/gs
  const checks = suites.flatMap((file) => textOf(file).match(element) ?? [])
  const failedChecks = checks.filter((check) => check.includes('<failure'))
  const messages = [...messagesOf([...files, ...again]), ...failedChecks].map(shortened)
  for (const message of messages) if (message !== '') console.log(message)
  for (const test of once) console.log(`failed once: ${test}`)
  for (const test of [...failed, ...failedChecks.map(nameOf)]) console.log(`failed: ${test}`)
  const passedChecks = checks.filter((check) => !/<(failure|skipped)/.test(check))
  const recovered = testsOf(files, 'failed').filter((test) => once.includes(test))
  const passed = testsOf(files, 'passed').length + recovered.length + passedChecks.length
  const failures = failed.length + failedChecks.length
  const uncaught = [first, second].map((file) => textOf(`${file}.uncaught`))
  for (const n of uncaught) if (Number(n) > 0) console.log(`failed: ${n} errors outside all tests`)
  const hasRecovered = recovered.length > 0 && failedFiles(again).length === 0 && uncaught.every((n) => n === '0')
  const haveTestsPassed = tests === '0' || (tests === '1' && hasRecovered)
  const isSound = status === '0' && haveTestsPassed && files.length > 0
  console.log(`${passed} passed, ${Math.max(failures, isSound ? 0 : 1)} failed`)
  process.exitCode = failures > 0 || !isSound ? 1 : 0
}
