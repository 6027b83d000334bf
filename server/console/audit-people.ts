import type { PersonAudit } from '../people/audit.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { type AuditActor, recordAuditEntry } from './audit.ts'
import { isMember as isMemberOf } from './auth/members.ts'

/** Records an action on the data of a person: in the console, through the API, by a command, or by the server. */
export async function recordPersonAudit(tx: Tx, clock: Clock, { scope, who, ...entry }: PersonAudit): Promise<void> {
  const { orgId, mode } = scope
  // The key of a console user is `console:ORG_…:mode:email`.
  if (who?.startsWith('console:')) {
    const email = who.split(':').slice(3).join(':')
    const isMember = await isMemberOf(tx, orgId, email)
    await recordAuditEntry(tx, clock, { orgId, mode, who: email, actor: isMember ? 'member' : 'operator', ...entry })
  } else await recordAuditEntry(tx, clock, { orgId, mode, who, actor: actorOf(who), ...entry })
}

function actorOf(who: string | undefined): AuditActor {
  if (who === undefined) return 'server'
  return who.startsWith('cli:') ? 'cli' : 'key'
}
