/** The log: one JSON line for each event, or a short readable line on a terminal. */
import type { World } from '../../actors/kernel/world.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Fields of an event. An Error is written with its stack and its causes. */
export type Facts = Readonly<Record<string, unknown>>

/** Events have fixed snake_case names such as `task_failed`, so that they can be searched, counted and alerted on. */
export interface Log {
  debug(event: string, facts?: Facts): void
  info(event: string, facts?: Facts): void
  warn(event: string, facts?: Facts): void
  error(event: string, facts?: Facts): void
  /** A log that adds these facts to each of its lines, such as the id of the request or match that they are about. */
  with(context: Facts): Log
}

export interface LogOptions {
  readonly level: LogLevel
  readonly world: Pick<World, 'now'>
  readonly write?: (line: string) => void
  /** Where lines go without `write`: by default the standard output. */
  readonly stream?: LineStream
  /** Readable lines instead of JSON; by default when the output is a terminal. */
  readonly readable?: boolean
}

export interface LineStream {
  write(line: string): unknown
  /** Bytes that the reader has not taken yet. */
  readonly writableLength: number
}

/** A reader of the log that stands still must not fill the memory of the server. */
const WAITING_BYTES_MAX = 8 * 1_024 * 1_024

let dropped = 0
/** Lines of this process that were dropped because the reader had not taken those before them. */
export const droppedLines = (): number => dropped

/** Drops events below `level`. Writing never throws: a log must not bring down what it reports on. */
export function createLog(options: LogOptions): Log {
  const { world, write, stream = write === undefined ? process.stdout : { write, writableLength: 0 } } = options
  const format = (options.readable ?? process.stdout.isTTY) ? readableLine : jsonLine
  const threshold = LOG_LEVELS.indexOf(options.level)
  let missing = 0
  const put = (level: LogLevel, event: string, facts: Facts): void => {
    if (LOG_LEVELS.indexOf(level) < threshold) return
    if (stream.writableLength > WAITING_BYTES_MAX) {
      missing++
      dropped++
      return
    }
    const at = new Date(world.now()).toISOString()
    if (missing > 0) stream.write(format(at, 'warn', 'log_lines_dropped', { lines: missing }))
    missing = 0
    stream.write(format(at, level, event, facts))
  }
  return logWith(put, {})
}

type Put = (level: LogLevel, event: string, facts: Facts) => void

const logWith = (put: Put, context: Facts): Log => ({
  debug: (event, facts) => put('debug', event, { ...context, ...facts }),
  info: (event, facts) => put('info', event, { ...context, ...facts }),
  warn: (event, facts) => put('warn', event, { ...context, ...facts }),
  error: (event, facts) => put('error', event, { ...context, ...facts }),
  with: (more) => logWith(put, { ...context, ...more }),
})

function jsonLine(at: string, level: LogLevel, event: string, facts: Facts): string {
  try {
    return `${JSON.stringify({ at, level, event, ...facts }, printable)}\n`
  } catch {
    return `${JSON.stringify({ at, level, event, unprintable: Object.keys(facts) })}\n`
  }
}

function readableLine(at: string, level: LogLevel, event: string, facts: Facts): string {
  const words = Object.entries(facts).map(([name, value]) => `${name}=${valueText(value)}`)
  return `${at.slice(11, 23)} ${level.toUpperCase().padEnd(5)} ${[event, ...words].join('  ')}\n`
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Error) return value.stack ?? value.message
  try {
    return JSON.stringify(value, printable) ?? String(value)
  } catch {
    return '?'
  }
}

function printable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (!(value instanceof Error)) return value
  return { name: value.name, message: value.message, stack: value.stack, cause: value.cause }
}
