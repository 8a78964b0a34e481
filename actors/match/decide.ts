/**
 * Command → decision. Pure: equal draft, command and terms give an equal decision. A refusal leaves the draft
 * unchanged.
 */
import { unreachable } from '../kernel/assert.ts'
import type { Outcome } from '../kernel/outcome.ts'
import type { SystemCommand, UserCommand } from './messages.ts'
import { clock, type FeedTerms, update } from './feed-updates.ts'
import { endMatch } from './operator-ending.ts'
import { voidPosition } from './operator-void.ts'
import type { Draft } from './state.ts'
import { changeLevels, close, open } from './trading.ts'
import type { Allowed, Terms } from './terms.ts'

/** Decides a user's command. */
export function decide(draft: Draft, command: UserCommand, terms: Terms): Outcome<Allowed> {
  switch (command.kind) {
    case 'open_position':
      return open(draft, command, terms)
    case 'change_levels':
      return changeLevels(draft, command, terms)
    case 'close_position':
    case 'close_part':
      return close(draft, command, terms)
    default:
      return unreachable(command)
  }
}

/**
 * Decides what the match itself does next. Returns whether a feed update was new, an ending had not begun, or a
 * position was open.
 */
export function proceed(draft: Draft, command: SystemCommand, terms: FeedTerms): boolean {
  switch (command.kind) {
    case 'feed_update':
      // A quarantined match cannot tell what of it is new.
      return draft.info.quarantine === undefined && update(draft, command, terms)
    case 'clock':
      if (draft.info.quarantine === undefined || draft.info.settling !== null) clock(draft, terms)
      return false
    case 'end_match':
      return endMatch(draft, command, terms)
    case 'void_position':
      return voidPosition(draft, command, terms)
    default:
      return unreachable(command)
  }
}
