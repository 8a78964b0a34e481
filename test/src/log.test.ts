import { describe, expect, it } from 'vitest'
import { createLog, droppedLines, type LogLevel } from '../../src/observe/log.ts'
import { TestWorld } from '../support/test-world.ts'

function open(level: LogLevel, readable = false) {
  const lines: string[] = []
  const world = new TestWorld({ now: Date.UTC(2026, 4, 2, 14, 30, 0, 5) })
  return { lines, log: createLog({ level, world, readable, write: (line) => lines.push(line) }) }
}

describe('the log', () => {
  it('writes one JSON object per line', () => {
    const { lines, log } = open('info')
    log.info('request_completed', { path: '/health', status: 200, note: 'two\nlines' })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^[^\n]*\n$/)
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      at: '2026-05-02T14:30:00.005Z',
      level: 'info',
      event: 'request_completed',
      path: '/health',
      status: 200,
      note: 'two\nlines',
    })
  })

  it('drops events below its level', () => {
    for (const [level, written] of [
      ['debug', 4],
      ['info', 3],
      ['warn', 2],
      ['error', 1],
      ['silent', 0],
    ] as const) {
      const { lines, log } = open(level)
      log.debug('a')
      log.info('b')
      log.warn('c')
      log.error('d')
      expect(lines, level).toHaveLength(written)
    }
  })

  it('drops lines while its reader stands still, counts them, and says so when it reads again', () => {
    const lines: string[] = []
    const stream = { write: (line: string) => lines.push(line), writableLength: 8 * 1_024 * 1_024 }
    const log = createLog({ level: 'info', world: new TestWorld(), readable: false, stream })
    const before = droppedLines()
    log.info('a')
    stream.writableLength++
    for (const event of ['b', 'c', 'd']) log.with({ requestId: 'r1' }).info(event)
    log.debug('below its level')
    stream.writableLength = 0
    log.error('e')
    log.info('f')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'a' },
      { level: 'warn', event: 'log_lines_dropped', lines: 3 },
      { event: 'e' },
      { event: 'f' },
    ])
    expect(droppedLines() - before).toBe(3)
  })

  it('writes errors with their causes', () => {
    const { lines, log } = open('info')
    log.error('failed', { error: new TypeError('no answer', { cause: new Error('socket closed') }) })
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      error: {
        name: 'TypeError',
        message: 'no answer',
        stack: expect.any(String),
        cause: { message: 'socket closed' },
      },
    })
  })

  it('never throws, whatever the fields are', () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    const hostile = {
      toJSON: () => {
        throw new Error('no')
      },
    }
    for (const readable of [false, true]) {
      const { lines, log } = open('info', readable)
      for (const fact of [circle, hostile, 10n, undefined, Symbol('s'), () => 0]) log.info('odd', { fact })
      expect(lines).toHaveLength(6)
      expect(lines.every((line) => line.includes('odd'))).toBe(true)
    }
  })

  it('adds the fields of its context to every line', () => {
    const { lines, log } = open('info')
    const ofRequest = log.with({ requestId: 'r1', part: 'edge' })
    ofRequest.info('request_received')
    ofRequest.with({ userId: 'ada' }).warn('request_refused', { part: 'gates' })
    log.info('request_completed')
    const written = lines.map((line) => {
      const { at: _, level: __, ...facts }: Record<string, unknown> = JSON.parse(line)
      return facts
    })
    expect(written).toEqual([
      { event: 'request_received', requestId: 'r1', part: 'edge' },
      { event: 'request_refused', requestId: 'r1', part: 'gates', userId: 'ada' },
      { event: 'request_completed' },
    ])
  })

  it('has a short readable form for people', () => {
    const { lines, log } = open('info', true)
    log.warn('ready_check_failed', { check: 'database', tries: 3 })
    expect(lines).toEqual(['14:30:00.005 WARN  ready_check_failed  check=database  tries=3\n'])
  })
})
