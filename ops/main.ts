/**
 * The one runner of tools, rehearsals and benchmarks: `npm run ops -- <tool> [options]`. Without a tool it lists them,
 * with `--help` it shows the head of the tool's file, which describes its options. Each tool reads its own.
 */
import { existsSync, readFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { TOOLS } from './tool-table.ts'

// Half of the start of a tool is stripping the types of what it imports.
enableCompileCache()

const fileOf = (file: string): URL => new URL(file, import.meta.url)
/** The image of the server holds the tools, but no rehearsals and no benchmarks. */
const tools = TOOLS.filter(({ file }) => existsSync(fileOf(file)))

const [name, ...options] = process.argv.slice(2)
const tool = tools.find((one) => one.name === name)
if (tool === undefined) {
  if (name !== undefined) console.error(`There is no tool ${name}.\n`)
  const width = Math.max(...tools.map((one) => one.name.length))
  const lines = tools.map((one) => `  ${one.name.padEnd(width)}  ${one.help}`)
  const list = ['npm run ops -- <tool> [options]', '', ...lines].join('\n')
  if (name === undefined) console.log(list)
  else console.error(list)
  process.exitCode = name === undefined ? 0 : 2
} else if (options.includes('--help')) {
  const [, head = ''] = /^\/\*\*([^]*?)\*\//.exec(readFileSync(fileOf(tool.file), 'utf8')) ?? []
  console.log(head.replaceAll(/^ \* ?/gm, '').trim())
} else {
  // Each tool reads the command line as if it had been started directly.
  process.argv = [process.execPath, tool.file, ...options]
  try {
    await import(fileOf(tool.file).href)
  } catch (error) {
    const isOfOptions = error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
    if (!isOfOptions) throw error
    console.error(`${error.message}\nSee npm run ops -- ${tool.name} --help`)
    process.exitCode = 2
  }
}
