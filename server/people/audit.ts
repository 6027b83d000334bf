import type { OrgScope } from '../access/caller.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { defineHook } from '../platform/hook.ts'

/** An action on the data of a person, for the audit log. */
export interface PersonAudit {
  scope: OrgScope
  /** The caller: the ID of a key, `console:…` for a console user, `cli:…` for a command, or undefined for the server itself. */
  who: string | undefined
  action: string
  subject: string | undefined
  details: object
  requestId?: string | undefined
}

/** Records an action in the audit log, in the transaction of the change. */
export const personAudited =
  defineHook<[tx: Tx, clock: Clock, entry: PersonAudit]>('personAudited').handledBy('console')
