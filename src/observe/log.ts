/** The log: one JSON line for each thing worth knowing, or a short readable one when a person is watching. */
import type { World } from '../../actors/kernel/world.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** What is known about an event. An Error is written with its stack and its causes. */
export type Facts = Readonly<Record<string, unknown>>

export interface Log {
  debug(event: string, facts?: Facts): void
  info(event: string, facts?: Facts): void
  warn(event: string, facts?: Facts): void
  error(event: string, facts?: Facts): void
}

export interface LogOptions {
  readonly level: LogLevel
  readonly world: Pick<World, 'now'>
  readonly write?: (line: string) => void
  /** Readable lines instead of JSON; by default when the output is a terminal. */
  readonly readable?: boolean
}

/** A log that drops what is below `level`. Writing never throws: a log must not bring down what it reports on. */
export function createLog(options: LogOptions): Log {
  const write = options.write ?? ((line: string) => void process.stdout.write(line))
  const format = (options.readable ?? process.stdout.isTTY) ? readableLine : jsonLine
  const threshold = LOG_LEVELS.indexOf(options.level)
  const at =
    (level: LogLevel) =>
    (event: string, facts: Facts = {}) => {
      if (LOG_LEVELS.indexOf(level) < threshold) return
      write(format(new Date(options.world.now()).toISOString(), level, event, facts))
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

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
