import type { AuditEntry } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { capitalise } from '../shared/capitalise.ts'

/** The beginning of a sentence for each action. The rest of the sentence is the object. */
const ACTION_TEXTS: Record<string, string> = {
  'session.begin': t('Signed in##audit log'),
  'session.end': t('Signed out'),
  'session.end_all': t('Signed out of all sessions'),
  'session.confirm': t('Confirmed the identity with an emailed code'),
  'session.confirm_fail': t('Entered a wrong confirmation code'),
  'session.fail': t('Failed to sign in'),
  'admin_key.fail': t('Used a wrong admin key'),
  'member.add': t('Added a member'),
  'member.change': t('Changed the role of a member'),
  'member.remove': t('Removed a member'),
  'member.end_session': t('Ended a session of a member'),
  'member.end_sessions': t('Ended all sessions of a member'),
  'member.link': t('Printed a sign-in link for a member'),
  'member.invite': t('Sent an invitation again'),
  'member.name': t('Changed their name'),
  'member.email': t('Changed the email address of a member'),
  'scim_token.create': t('Created a token for SCIM'),
  'scim_token.revoke': t('Revoked the token for SCIM'),
  'passkey.add': t('Added a passkey'),
  'passkey.remove': t('Removed a passkey'),
  'authenticator_app.add': t('Added an authenticator app'),
  'authenticator_app.remove': t('Removed the authenticator app'),
  'second_factor.reset': t('Removed the passkeys and the authenticator app of a person'),
  'identity_provider.save': t('Saved the identity provider'),
  'identity_provider.remove': t('Removed the identity provider'),
  'identity_provider.optional': t('Allowed sign-in without the identity provider'),
  'operator.add': t('Added an operator'),
  'operator.remove': t('Removed an operator'),
  'operator.link': t('Printed a sign-in link for an operator'),
  'email.list': t('Viewed the list of emails'),
  'email.read': t('Read an email'),
  'branding.change': t('Changed the branding'),
  'key.create': t('Created a key'),
  'key.rename': t('Renamed a key'),
  'key.rotate': t('Rotated the secret of a key'),
  'key.revoke': t('Revoked a key'),
  'key.allow': t('Changed the addresses that a key may be used from'),
  'key.limits': t('Changed the rate limits of a key'),
  'credential.policy': t('Changed the settings of credentials'),
  'credential.revoke': t('Revoked a credential'),
  'credential.erase': t('Erased the credentials of a person'),
  'credential_key.rotate': t('Rotated the key that signs credentials'),
  'credential_key.revoke': t('Revoked a key that signs credentials'),
  'credits.grant': t('Granted credits'),
  'org.create': t('Created the organisation'),
  'org.erase_requested': t('Requested the erasure of the organisation'),
  'org.erase': t('Erased the organisation'),
  'org.limits': t('Changed the limits of the organisation'),
  'service.on': t('Switched the service on'),
  'service.off': t('Switched the service off'),
  'results.export': t('Exported results'),
  'report.download': t('Opened the report of a candidate as a PDF file'),
  'report.share': t('Created a link to the report of a candidate'),
  'report.revoke': t('Revoked a link to the report of a candidate'),
  'audit.export': t('Exported the audit log'),
  'audit.erase': t('Erased a personal value from the audit log'),
  'responses.export': t('Exported responses to questions'),
  'items.import': t('Imported questions'),
  'items.export': t('Exported questions'),
  'item.add': t('Added a question'),
  'item.change': t('Changed a question'),
  'item.retire': t('Retired a question'),
  'question.exclude': t('Excluded a question from a job'),
  'question.include': t('Included a question in a job again'),
  'item.restore': t('Restored a question'),
  'view.save': t('Saved a view'),
  'view.delete': t('Deleted a view'),
  'verification.resend': t('Sent a review email again'),
  'verification.withdraw': t('Withdrew an endorsement'),
  'skill_request.approve': t('Approved a skill request'),
  'skill_request.reject': t('Rejected a skill request'),
  'phone.reply': t('Answered on the simulator phone'),
  'job.retry': t('Retried a background job'),
  'mail.suppress': t('Suppressed a mailbox'),
  'mail.unsuppress': t('Allowed emails to a mailbox again'),
  'catalogue.import': t('Imported skills'),
  'catalogue.undo_import': t('Undid an import of skills'),
  'skill.change': t('Changed a skill'),
  'skill.merge': t('Merged a skill into another one'),
  'skill.undo_merge': t('Undid the merge of a skill'),
  'channel.set': t('Set up a channel'),
  'channel.test': t('Sent a test message'),
  'dnd-check.set': t('Set up the DND check'),
  'dnd-check.remove': t('Removed the DND check'),
  'spending.change': t('Changed prices or the daily cap'),
  'channel.remove': t('Removed a channel'),
  'ats.connect': t('Connected an applicant tracking system'),
  'ats.disconnect': t('Disconnected an applicant tracking system'),
  'ats.replay': t('Sent reports to an applicant tracking system again'),
  'ats.simulate': t('Simulated an applicant tracking system'),
  'master_key.rotate': t('Rotated the master key'),
  'master_key.finish': t('Finished the rotation of the master key'),
  'person.find': t('Searched for a person'),
  'person.export': t('Read or downloaded the data of a person'),
  'person.correct': t('Corrected the data of a person'),
  'person.restrict': t('Restricted the processing of the data of a person'),
  'person.unrestrict': t('Lifted the restriction of a person'),
  'person.hold': t('Changed the legal hold of a person'),
  'person.erase': t('Erased a person'),
  'privacy.settings': t('Changed the privacy settings'),
  'privacy.retention': t('Changed the retention periods'),
  'privacy.hold': t('Changed the legal hold of the organisation'),
  'privacy.apply_erasures': t('Repeated erasures after a restore'),
  'retention.bounds': t('Changed the bounds of retention periods'),
  'breach.list': t('Downloaded the list of people affected by a breach'),
  'org.export': t('Exported the data of the organisation'),
  'backup.create': t('Created a backup'),
  'backup.restore': t('Restored a backup'),
  'templates.create': t('Created templates'),
  'templates.set': t('Changed a template'),
  'templates.remove': t('Removed a template'),
  'templates.import': t('Imported templates'),
  'templates.submit': t('Submitted templates for approval'),
  'templates.refresh': t('Refreshed the approval of templates'),
  'rings.list': t('Viewed the list of rings'),
  'rings.view': t('Viewed a ring'),
  'rings.note': t('Changed the note on a ring'),
}

const NOUNS: Record<string, string> = {
  workflows: t('workflow'),
  mandates: t('job'),
  campaigns: t('campaign'),
  webhooks: t('webhook endpoint'),
  keys: t('key##API'),
  events: t('events'),
  'skill-requests': t('skill request'),
  'test-clocks': t('test clock'),
  credentials: t('credential'),
  people: t('person'),
}

/** Sentences by the last part of a path. */
const CALL_TEXTS: Record<string, (noun: string) => string> = {
  pause: (noun) => t('Paused {noun}', { noun }),
  resume: (noun) => t('Resumed {noun}', { noun }),
  retry: (noun) => t('Prepared again: {noun}', { noun }),
  candidates: (noun) => t('Added candidates to {noun}', { noun }),
  replay: (noun) => t('Replayed events to {noun}', { noun }),
  test: (noun) => t('Sent a test event to {noun}', { noun }),
  enable: (noun) => t('Enabled {noun}', { noun }),
  disable: (noun) => t('Disabled {noun}', { noun }),
  rotate: (noun) => t('Rotated the secret of {noun}', { noun }),
  'rotate-secret': (noun) => t('Rotated the secret of {noun}', { noun }),
  revoke: (noun) => t('Revoked {noun}', { noun }),
  'revoke-link': (noun) => t("Revoked a candidate's link in {noun}", { noun }),
  advance: (noun) => t('Advanced {noun}', { noun }),
  ack: (noun) => t('Acknowledged {noun}', { noun }),
  name: (noun) => t('Renamed {noun}', { noun }),
  'allowed-addresses': () => t('Changed the addresses that a key may be used from'),
  erase: (noun) => t('Erased {noun}', { noun }),
  restrict: (noun) => t('Restricted {noun}', { noun }),
  unrestrict: (noun) => t('Lifted the restriction of {noun}', { noun }),
}

/** Returns a sentence without its subject, such as “Paused campaign”. */
export function auditSentence({ action, details }: Pick<AuditEntry, 'action' | 'details'>): string {
  const text = ACTION_TEXTS[action]
  if (action === 'operator.read')
    return t('Viewed {route}', { route: describeRoute(String((details as { route?: string }).route ?? '')) })
  if (action === 'candidates.decide') return describeDecision(details as DecisionDetails)
  if (action === 'candidates.assign')
    return describeAssignment(details as { count?: number; member_id?: string | null })
  if (text) return text
  const [, method, path] = /^(POST|PUT|PATCH|DELETE) (\/.*)$/.exec(action) ?? []
  return method && path ? describeCall(method, path) : capitalise(action.replaceAll(/[._]/g, ' '))
}

interface DecisionDetails {
  count?: number
  decision?: string
  note?: string
}

const DECISION_NAMES: Record<string, string> = {
  called: t('called'),
  shortlisted: t('shortlisted'),
  rejected: t('rejected'),
}

function describeAssignment({ count = 0, member_id }: { count?: number; member_id?: string | null }): string {
  const candidates =
    count === 1 ? t('1 candidate') : t('{count} candidates', { count: count.toLocaleString(displayLocale()) })
  return member_id
    ? t('Assigned {candidates} to a member', { candidates })
    : t('Removed the assignment of {candidates}', { candidates })
}

/** Describes the decision or note on candidates, such as “Marked 3 candidates as shortlisted and changed the note”. */
function describeDecision({ count = 0, decision, note }: DecisionDetails): string {
  const candidates =
    count === 1 ? t('1 candidate') : t('{count} candidates', { count: count.toLocaleString(displayLocale()) })
  if (!decision) {
    if (!note) return t('Changed nothing on {candidates}', { candidates })
    return note === 'removed'
      ? t('Removed the note on {candidates}', { candidates })
      : t('Changed the note on {candidates}', { candidates })
  }
  const decisionText =
    decision === 'none'
      ? t('Removed the decision on {candidates}', { candidates })
      : t('Marked {candidates} as {decision}', { candidates, decision: DECISION_NAMES[decision] ?? decision })
  if (!note) return decisionText
  return note === 'removed'
    ? t('{decisionText} and removed the note', { decisionText })
    : t('{decisionText} and changed the note', { decisionText })
}

/** Describes a call of the API, such as `POST /campaigns/:campaign_id/pause`. */
function describeCall(method: string, path: string): string {
  const parts = path.split('/').filter(Boolean)
  const names = parts.filter((part) => !part.startsWith(':'))
  const noun = NOUNS[names[0] ?? ''] ?? (names[0] ?? '').replaceAll('-', ' ')
  const last = names.at(-1)!
  if (names.length > 1) return CALL_TEXTS[last]?.(noun) ?? `${capitalise(last.replaceAll('-', ' '))} ${noun}`
  if (method === 'DELETE') return t('Archived {noun}', { noun })
  return method === 'POST' && parts.length === 1 ? t('Created {noun}', { noun }) : t('Changed {noun}', { noun })
}

/** Names of what operators view, by the path of the route without the organisation; `:id` stands for any parameter. */
const ROUTE_NAMES: Record<string, string> = {
  '': t('the organisation'),
  'analytics/candidates': t('the candidates behind a number'),
  'analytics/overview': t('analytics'),
  audit: t('the audit log'),
  branding: t('the branding'),
  campaigns: t('campaigns'),
  'campaigns/:id': t('a campaign'),
  'campaigns/:id/candidates': t('the candidates of a campaign'),
  'campaigns/:id/spending': t('the spending of a campaign'),
  'candidates/:id': t('a candidate'),
  'candidates/:id/report-links': t('the report links of a candidate'),
  channels: t('channels'),
  'credential-keys': t('the keys that sign credentials'),
  'credential-policy': t('the settings of credentials'),
  credentials: t('credentials'),
  credits: t('credits'),
  'embed-origins': t('websites that embed pages'),
  events: t('events'),
  'identity-provider': t('the identity provider'),
  keys: t('keys'),
  mandates: t('jobs'),
  'mandates/:id': t('a job'),
  'mandates/:id/questions': t('the questions of a job'),
  members: t('members'),
  people: t('people'),
  'people/:id': t('a person'),
  'people/:id/records': t('the records of a person'),
  phone: t('simulator phones'),
  'phone/:id': t('a simulator phone'),
  privacy: t('privacy settings'),
  'privacy-requests': t('privacy requests'),
  questions: t('questions'),
  'questions/:id': t('the questions about a skill'),
  'questions/:id/:id': t('a question'),
  requests: t('the request log'),
  results: t('results'),
  'results/:id': t('a result'),
  retention: t('retention periods'),
  'retention-preview': t('upcoming erasures'),
  search: t('search results'),
  spending: t('spending'),
  summary: t('the start page'),
  templates: t('message templates'),
  verifications: t('verifications'),
  'verifications/:id': t('a verification'),
  webhooks: t('webhooks'),
  'webhooks/:id': t('a webhook endpoint'),
  'webhooks/:id/deliveries/:id': t('a delivery of an event'),
  'events/:id/deliveries': t('the deliveries of an event'),
  'webhooks/:id/deliveries': t('the deliveries of a webhook endpoint'),
  workflows: t('workflows'),
  'workflows/:id': t('a workflow'),
  'analytics/messages': t('the figures of messages'),
  'ats/connections': t('the connections to applicant tracking systems'),
  'ats/connections/:id': t('a connection to an applicant tracking system'),
  'ats/connections/:id/orders': t('the orders of an applicant tracking system'),
  'branding/colour': t('the branding'),
  'candidates/:id/report.pdf': t('the report of a candidate'),
  'credentials/:id': t('a credential'),
  'credits/entries': t('the history of credits'),
  items: t('the questions of the organisation'),
  'items/skills': t('the questions of the organisation'),
  'keys/:id/limits': t('the limits of a key'),
  'members/:id/sessions': t('the sessions of a member'),
  'people/:id/export': t('everything stored about a person'),
  'question-translations': t('suggested translations'),
  'skill-requests': t('skill requests'),
  'test-clocks': t('test clocks'),
  'verifications/:id/files/:id': t('a file of a verification'),
  views: t('saved views'),
}

/** Describes the page that an operator viewed, from the path of its route. */
function describeRoute(route: string): string {
  const path = route
    .replace(/^\/orgs\/:\w+/, '')
    .replace(/^\/(lists|recruiter-results)\b/, (_match, list: string) => (list === 'lists' ? '' : '/results'))
    .replaceAll(/:\w+/g, ':id')
    .slice(1)
  return (
    ROUTE_NAMES[path] ??
    path
      .split('/')
      .filter((part) => part !== ':id')
      .join(' ')
      .replaceAll('-', ' ')
  )
}

/** Returns the details that a reader needs; the response status of a successful call is not one of them. */
export function shownDetails({ action, details }: Pick<AuditEntry, 'action' | 'details'>): [string, string][] {
  if (action === 'candidates.decide' || action === 'candidates.assign') return [] // part of the sentence
  return Object.entries(details as object)
    .filter(([name, value]) => name !== 'route' && !(name === 'status' && Number(value) < 400))
    .filter(([, value]) => value !== null && value !== undefined && !isEmptyObject(value))
    .map(([name, value]) => [toWords(name), name === 'fields' ? toWords(describeValue(value)) : describeValue(value)])
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(describeValue).join(', ')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .filter(([, each]) => each !== null && !(Array.isArray(each) && each.length === 0))
    .map(([name, each]) => `${toWords(name)} ${describeValue(each)}`)
    .join(', ')
}

/** Returns the name of a field as words: "link ID" for `link_id`. */
function toWords(name: string): string {
  return name
    .replaceAll('_', ' ')
    .replace(/\b(id|ip|url)s?\b/g, (word) => word.replace(/^(id|ip|url)/, (each) => each.toUpperCase()))
}
