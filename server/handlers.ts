import { serviceResumed } from './access/service-switch.ts'
import { addCounts } from './analytics/rollups.ts'
import { recordOrderChanges } from './ats/order-changes.ts'
import { requireNoOpenCampaign } from './campaigns/campaigns.ts'
import { resumeContacts } from './campaigns/contact/contact.ts'
import { candidatesChanged } from './campaigns/progress.ts'
import { skillApproved, skillRequestResolved } from './catalogue/skill-requests.ts'
import { isMember } from './console/auth/members.ts'
import { emailOwnersAboutFailingEndpoint } from './console/organisation/failing-endpoints.ts'
import { revokeWithdrawn, scheduleIssueForCandidates, scheduleIssueForSession } from './credentials/consents.ts'
import { findCredentialsOfSession } from './credentials/credentials.ts'
import { revokeMiskeyed } from './credentials/revocation.ts'
import { itemRetired } from './items/item-status.ts'
import { isMemberAddress } from './mail/mail.ts'
import { countMandates } from './mandates/mandate-rows.ts'
import { beforeMandateArchived } from './mandates/mandates.ts'
import { recordRequestResolved, resolvePendingSkills } from './mandates/skill-requests.ts'
import { recordResultEvents } from './results/events.ts'
import {
  endorsementWithdrawn,
  findVerificationCredentials,
  verificationEnded,
} from './verification/credential-hooks.ts'
import { resumeVerifications } from './verification/resume.ts'
import { endpointFailing } from './webhooks/delivery/health.ts'
import { resumeWebhooks } from './webhooks/resume.ts'
import { mandateCounts } from './workflows/workflows.ts'

/**
 * Registers the handlers of all hooks, through which a module calls modules that it must not import. Called by `openStore`, so that every
 * process that writes to the database, including commands, has all handlers. Calling it again has no effect.
 */
export function registerHandlers(): void {
  mandateCounts.register({ mandates: countMandates })
  beforeMandateArchived.register({ campaigns: requireNoOpenCampaign })
  skillApproved.register({ mandates: resolvePendingSkills })
  skillRequestResolved.register({ mandates: recordRequestResolved })
  candidatesChanged.register({
    results: recordResultEvents,
    analytics: addCounts,
    credentials: scheduleIssueForCandidates,
    ats: recordOrderChanges,
  })
  itemRetired.register({ credentials: revokeMiskeyed })
  isMemberAddress.register({ console: isMember })
  verificationEnded.register({ credentials: scheduleIssueForSession })
  endorsementWithdrawn.register({ credentials: revokeWithdrawn })
  findVerificationCredentials.register({ credentials: findCredentialsOfSession })
  endpointFailing.register({ console: emailOwnersAboutFailingEndpoint })
  serviceResumed.register({
    campaigns: resumeContacts,
    verification: resumeVerifications,
    webhooks: resumeWebhooks,
  })
}
