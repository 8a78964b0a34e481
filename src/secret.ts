/**
 * A secret from the environment. Printing it, in a log line, a template or JSON, shows that it is one and nothing else.
 */
import { inspect } from 'node:util'

const SHOWN = '[secret]'

export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The secret itself. Call this where it is used, and keep the result nowhere. */
  reveal(): string {
    return this.#text
  }

  toString(): string {
    return SHOWN
  }

  toJSON(): string {
    return SHOWN
  }

  [inspect.custom](): string {
    return SHOWN
  }
}
