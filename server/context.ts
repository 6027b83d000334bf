import type { KeyUses } from './access/key-uses.ts'
import type { Keyring } from './access/keyring.ts'
import type { RateLimits } from './access/rate-limits.ts'
import type { Catalogue } from './catalogue/catalogue.ts'
import type { ChannelAdapters } from './channels/channel.ts'
import type { Config } from './config.ts'
import type { AuditLog } from './console/audit-log.ts'
import type { Ledger } from './events/ledger.ts'
import type { OwnSkills } from './items/own-skills.ts'
import type { MailboxHasher } from './mail/mailbox-hash.ts'
import type { SmtpTransport } from './mail/smtp.ts'
import type { Clock } from './platform/clock.ts'
import type { ConnectionSettings } from './platform/database/connection-settings.ts'
import type { Database } from './platform/database/database.ts'
import type { Listener } from './platform/database/listener.ts'
import type { Uploads } from './platform/http/uploads.ts'
import type { Queue } from './platform/jobs/queue.ts'
import type { Log } from './platform/log.ts'
import type { Metrics } from './platform/metrics.ts'
import type { Telemetry } from './platform/telemetry/trace.ts'
import type { Vault } from './platform/vault.ts'
import type { QuestionWriter } from './questions/questions.ts'
import type { EmailDomains } from './verification/endorsements/email-domains.ts'

/** The dependencies of routes and jobs, opened by `openContext`. Domain functions take a `Pick` of the fields they use. */
export interface Context {
  config: Config
  log: Log
  metrics: Metrics
  /** Undefined unless traces and metrics are exported. */
  telemetry: Telemetry | undefined
  clock: Clock
  /** Settings of PostgreSQL itself, or of a pooler in session mode: for locks, notifications and backups. */
  connection: ConnectionSettings
  listener: Listener
  db: Database
  vault: Vault
  mailboxes: MailboxHasher
  queue: Queue
  keyring: Keyring
  keyUses: KeyUses
  limits: RateLimits
  catalogue: Catalogue
  ownSkills: OwnSkills
  events: Ledger
  audit: AuditLog
  writer: QuestionWriter
  /** Undefined if SMTP_URL is not set: emails are then stored for reading in the console, not sent. */
  smtp: SmtpTransport | undefined
  channels: ChannelAdapters
  emailDomains: EmailDomains
  /** Limits the uploads of all routes together. */
  uploads: Uploads
  /** The key of the catalogue's admin routes. */
  adminKey: string
}
