/**
 * Starts Chromium: the program that CHROMIUM names, or Debian's headless shell, which opens no pages of its own and
 * takes a fifth less of the processor, or the whole browser.
 */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const PROGRAMS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'] as const
const EXECUTABLE = process.env['CHROMIUM'] ?? PROGRAMS.find((path) => existsSync(path)) ?? PROGRAMS[0]

export const isInstalled = existsSync(EXECUTABLE)

/** Throws if it is not installed. */
export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] })
