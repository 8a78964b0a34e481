/**
 * Sums up the test reports (JSON of vitest, JUnit of the conformance suite):
 *
 *   verdict.mjs failed-files report.json                          the test files with a failure, one per line
 *   verdict.mjs verdict STATUS report.json again.json suite.xml…  names what failed and ends with "N passed, N failed"
 *
 * If STATUS is not 0 the run failed, even when no report has a failure: types, lint, format, a leak after the tests, or
 * a deployment that did not start.
 */
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

const textOf = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '')
const filesOf = (path) => JSON.parse(textOf(path) || '{ "testResults": [] }').testResults
const failedFiles = (files) => files.filter(({ status }) => status === 'failed').map(({ name }) => relative('', name))
const testsOf = (files, wanted) =>
  files.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === wanted)
      .map(({ fullName }) => `${relative('', name)}: ${fullName}`),
  )
const nameOf = (check) => /\bname="([^"]*)"/.exec(check)?.[1] ?? check

const [, , what, ...rest] = process.argv
if (what === 'failed-files') console.log(failedFiles(filesOf(rest[0])).join('\n'))
else {
  const [status, first, second, ...suites] = rest
  const [files, again] = [filesOf(first), filesOf(second)]
  const failed = testsOf(again.length > 0 ? again : files, 'failed')
  const once = testsOf(files, 'failed').filter((test) => !failed.includes(test))
  // A test case is one empty element, or holds why it failed or was skipped. An attribute may contain ">".
  const element = /<testcase(?:\s+[\w-]+="[^"]*")*\s*(?:\/>|>.*?<\/testcase>)/gs
  const checks = suites.flatMap((file) => textOf(file).match(element) ?? [])
  const failedChecks = checks.filter((check) => check.includes('<failure'))
  for (const test of once) console.log(`failed once: ${test}`)
  for (const test of [...failed, ...failedChecks.map(nameOf)]) console.log(`failed: ${test}`)
  const passedChecks = checks.filter((check) => !/<(failure|skipped)/.test(check))
  const passed = testsOf(files, 'passed').length + once.length + passedChecks.length
  const failures = failed.length + failedChecks.length
  const isSound = status === '0' && files.length > 0
  console.log(`${passed} passed, ${Math.max(failures, isSound ? 0 : 1)} failed`)
  process.exitCode = failures > 0 || !isSound ? 1 : 0
}
