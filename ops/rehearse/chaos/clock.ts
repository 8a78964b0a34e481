/** Preloaded into a program (`node --import …/clock.ts?ms=-30000`), it shifts the clock of that process alone. */
const skewMs = Number(new URL(import.meta.url).searchParams.get('ms'))

const True = Date
const now = (): number => True.now() + skewMs

class Skewed extends True {
  constructor(...args: readonly unknown[]) {
    if (args.length === 0) super(now())
    else super(...(args as [number]))
  }

  static override now(): number {
    return now()
  }
}

globalThis.Date = Skewed as DateConstructor
