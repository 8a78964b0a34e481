/** What the admin endpoints answer, taken from the server's own schemas. */
import type { z } from 'zod'
import type { RiskBody } from '../../features/integrity/schema.ts'
import type { WebhookBody } from '../../features/webhooks/schema.ts'
import type * as admin from '../../http/admin-schemas.ts'
import type * as recordings from '../../http/recording-schema.ts'
import type { Position } from '../client/wire.ts'

export type Replay = z.output<typeof admin.ReplayBody>
export type Recording = z.output<typeof admin.FixtureBody>
export type RecordedTeam = z.output<typeof recordings.RecordedTeam>
/** The prices of a player over a match, at even distances of time. */
export type PricePath = z.output<typeof recordings.PricePathBody>
export type EndedMatch = z.output<typeof admin.RecordingBody>
export type Flag = z.output<typeof admin.FlagBody>
export type Setting = z.output<typeof admin.SettingBody>
export type SettingValue = Setting['value']
/** What a setting would do to the running matches. */
export type Foreseen = z.output<typeof admin.DryRunBody>
export type ListedUser = z.output<typeof admin.ListedUserBody>
/** A position in a user's file. */
export type Holding = Position
/** A personal key that reaches endpoints for admins. */
export type AdminKey = z.output<typeof admin.AdminKeyBody>
export type UserFile = z.output<typeof admin.UserFileBody>
export type Risk = z.output<typeof RiskBody>
export type LedgerAudit = z.output<typeof admin.LedgerAuditBody>
export type AuditEntry = z.output<typeof admin.AuditEntryBody>
export type Reactions = z.output<typeof admin.ReactionsBody>
export type Webhook = z.output<typeof WebhookBody>

/** What is left out does not matter. */
export interface AuditFilter {
  readonly actor?: string
  readonly action?: string
  readonly subject?: string
  readonly since?: string
  readonly until?: string
}

/** Live matches with their newest updates, what came to nothing of the feed, and matches that cannot be read. */
export interface FeedState {
  readonly faults: readonly z.output<typeof admin.FeedFaultBody>[]
  readonly matches: readonly z.output<typeof admin.FedMatchBody>[]
  readonly quarantined: readonly z.output<typeof admin.QuarantinedMatchBody>[]
}
