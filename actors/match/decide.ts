/** Command → decision. Pure: the same draft, command and terms always decide the same; a refusal leaves the draft as it was. */
import { unreachable } from '../kernel/assert.ts'
import type { Outcome } from '../kernel/outcome.ts'
import type { Clock, FeedUpdate, UserCommand } from './messages.ts'
import { clock, type FeedTerms, update } from './moves.ts'
import type { Draft } from './state.ts'
import { changeLevels, close, type Decided, open, type Terms } from './trading.ts'

/** Decides what a user asks for. */
export function decide(draft: Draft, command: UserCommand, terms: Terms): Outcome<Decided> {
  switch (command.kind) {
    case 'open_position':
      return open(draft, command, terms)
    case 'change_levels':
      return changeLevels(draft, command, terms)
    case 'close_position':
      return close(draft, command, terms)
    default:
      return unreachable(command)
  }
}

/** Lets the match itself go on. Says whether a feed update was news. */
export function proceed(draft: Draft, command: FeedUpdate | Clock, terms: FeedTerms): boolean {
  switch (command.kind) {
    case 'feed_update':
      return update(draft, command, terms)
    case 'clock':
      clock(draft, terms)
      return false
    default:
      return unreachable(command)
  }
}
