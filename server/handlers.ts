import { serviceResumed } from './access/service-switch.ts'
import { addMessageChanges } from './analytics/message-figures.ts'
import { addCounts } from './analytics/rollups.ts'
import { queueHoldReports, recordOrderChanges } from './ats/order-changes.ts'
import { correctOrders, exportOrders } from './ats/people.ts'
import { reportFailed } from './ats/reports/reports.ts'
import { campaignHoldChanged, requireNoOpenCampaign } from './campaigns/campaigns.ts'
import { resumeContacts } from './campaigns/contact/contact.ts'
import { messagesChanged } from './campaigns/contact/message-changes.ts'
import { creditsSpent } from './campaigns/credits.ts'
import {
  correctCandidates,
  endCandidacies,
  exportCandidacies,
  holdContacts,
  listRecordIds as listCandidateRecordIds,
} from './campaigns/people.ts'
import { candidatesChanged } from './campaigns/progress.ts'
import { adminChangeMade } from './catalogue/public/skill-admin-routes.ts'
import { skillQuestions } from './catalogue/skill-questions.ts'
import { skillApproved, skillRequestResolved } from './catalogue/skill-requests.ts'
import { recordAdminChange } from './console/audit-admin.ts'
import { recordPersonAudit } from './console/audit-people.ts'
import { isMember } from './console/auth/members.ts'
import { correctListEntries, eraseListEntries, exportDecisions } from './console/candidates/people.ts'
import {
  notifyOfCredits,
  notifyOfFailedMessages,
  notifyOfFailedReport,
  notifyOfFailingEndpoint,
  notifyOfResults,
  notifyOfSkillRequest,
} from './console/notifications/sources.ts'
import { findCredentialsOfSession } from './credentials/credentials.ts'
import { revokeWithdrawn, scheduleIssueForCandidates, scheduleIssueForSession } from './credentials/holders/consents.ts'
import { exportCredentials, revokeCredentialsOfPerson } from './credentials/people.ts'
import { revokeMiskeyed } from './credentials/revocation.ts'
import { endEmbedSessionsOf, exportEmbedSessions } from './embeds/people.ts'
import { itemRetired } from './items/item-status.ts'
import { readQuestionsOfSkills } from './items/skill-questions.ts'
import { exportEmails, isMemberAddress, skipEmailsOf } from './mail/mail.ts'
import { countMandates } from './mandates/mandate-rows.ts'
import { beforeMandateArchived } from './mandates/mandates.ts'
import { recordRequestResolved, resolvePendingSkills } from './mandates/skill-requests.ts'
import { personAudited } from './people/audit.ts'
import {
  beforePersonErased,
  exportRequested,
  personCorrected,
  recordIdsRequested,
  restrictionChanged,
} from './people/identity/hooks.ts'
import { findLanguageOfStudent, recordCandidateConsents } from './privacy/consents.ts'
import { exportConsents } from './privacy/people.ts'
import { deleteReportLinksOf, exportReportLinks } from './reports/people.ts'
import { recordResultEvents } from './results/events.ts'
import { eraseReviewMessages, exportReviewMessages, queueReviewMessage } from './review-messages/review-messages.ts'
import {
  endorsementWithdrawn,
  findVerificationCredentials,
  verificationEnded,
} from './verification/credential-hooks.ts'
import {
  correctSessions,
  endSessions,
  exportSessions,
  holdReviews,
  listRecordIds as listSessionRecordIds,
} from './verification/people.ts'
import { resumeVerifications } from './verification/resume.ts'
import { reviewInvited } from './verification/reviews/invitation-hook.ts'
import { findStudentLanguage } from './verification/student-language.ts'
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
  skillRequestResolved.register({ mandates: recordRequestResolved, console: notifyOfSkillRequest })
  adminChangeMade.register({ console: recordAdminChange })
  skillQuestions.register({ items: readQuestionsOfSkills })
  candidatesChanged.register({
    results: recordResultEvents,
    analytics: addCounts,
    credentials: scheduleIssueForCandidates,
    ats: recordOrderChanges,
    privacy: recordCandidateConsents,
    console: notifyOfResults,
  })
  campaignHoldChanged.register({ ats: queueHoldReports })
  messagesChanged.register({ analytics: addMessageChanges, console: notifyOfFailedMessages })
  creditsSpent.register({ console: notifyOfCredits })
  reportFailed.register({ console: notifyOfFailedReport })
  itemRetired.register({ credentials: revokeMiskeyed })
  isMemberAddress.register({ console: isMember })
  findStudentLanguage.register({ privacy: findLanguageOfStudent })
  verificationEnded.register({ credentials: scheduleIssueForSession })
  endorsementWithdrawn.register({ credentials: revokeWithdrawn })
  findVerificationCredentials.register({ credentials: findCredentialsOfSession })
  reviewInvited.register({ 'review-messages': queueReviewMessage })
  endpointFailing.register({ console: notifyOfFailingEndpoint })
  beforePersonErased.register({
    campaigns: endCandidacies,
    verification: endSessions,
    credentials: revokeCredentialsOfPerson,
    mail: skipEmailsOf,
    console: eraseListEntries,
    reports: deleteReportLinksOf,
    embeds: endEmbedSessionsOf,
    'review-messages': eraseReviewMessages,
  })
  restrictionChanged.register({ campaigns: holdContacts, verification: holdReviews })
  personCorrected.register({
    campaigns: correctCandidates,
    verification: correctSessions,
    console: correctListEntries,
    ats: correctOrders,
  })
  exportRequested.register({
    campaigns: exportCandidacies,
    verification: exportSessions,
    credentials: exportCredentials,
    mail: exportEmails,
    privacy: exportConsents,
    console: exportDecisions,
    ats: exportOrders,
    'review-messages': exportReviewMessages,
    reports: exportReportLinks,
    embeds: exportEmbedSessions,
  })
  recordIdsRequested.register({ campaigns: listCandidateRecordIds, verification: listSessionRecordIds })
  personAudited.register({ console: recordPersonAudit })
  serviceResumed.register({
    campaigns: resumeContacts,
    verification: resumeVerifications,
    webhooks: resumeWebhooks,
  })
}
