import type { AuditEntry } from '../../api-types/console.ts'

/** The beginning of a sentence for each action. The rest of the sentence is the object. */
const ACTION_TEXTS: Record<string, string> = {
  'session.begin': 'Signed in',
  'session.end': 'Signed out',
  'session.end_all': 'Signed out of all sessions',
  'session.confirm': 'Confirmed the identity with an emailed code',
  'session.confirm_fail': 'Entered a wrong confirmation code',
  'session.fail': 'Failed to sign in',
  'admin_key.fail': 'Used a wrong admin key',
  'member.add': 'Added a member',
  'member.change': 'Changed the role of a member',
  'member.remove': 'Removed a member',
  'member.end_session': 'Ended a session of a member',
  'member.end_sessions': 'Ended all sessions of a member',
  'member.link': 'Printed a sign-in link for a member',
  'member.invite': 'Sent an invitation again',
  'member.email': 'Changed the email address of a member',
  'scim_token.create': 'Created a token for SCIM',
  'scim_token.revoke': 'Revoked the token for SCIM',
  'passkey.add': 'Added a passkey',
  'passkey.remove': 'Removed a passkey',
  'authenticator_app.add': 'Added an authenticator app',
  'authenticator_app.remove': 'Removed the authenticator app',
  'second_factor.reset': 'Removed the passkeys and the authenticator app of a person',
  'identity_provider.save': 'Saved the identity provider',
  'identity_provider.remove': 'Removed the identity provider',
  'identity_provider.optional': 'Allowed sign-in without the identity provider',
  'operator.add': 'Added an operator',
  'operator.remove': 'Removed an operator',
  'operator.link': 'Printed a sign-in link for an operator',
  'operator.read': 'Viewed',
  'email.list': 'Viewed the list of emails',
  'email.read': 'Read an email',
  'branding.change': 'Changed the branding',
  'key.create': 'Created a key',
  'key.rotate': 'Rotated the secret of a key',
  'key.revoke': 'Revoked a key',
  'key.allow': 'Changed the addresses that a key may be used from',
  'key.limits': 'Changed the rate limits of a key',
  'credential.policy': 'Changed the settings of credentials',
  'credential.revoke': 'Revoked a credential',
  'credential.erase': 'Erased the credentials of a person',
  'credential_key.rotate': 'Rotated the key that signs credentials',
  'credential_key.revoke': 'Revoked a key that signs credentials',
  'credits.grant': 'Granted credits',
  'org.create': 'Created the organisation',
  'org.erase_requested': 'Requested the erasure of the organisation',
  'org.erase': 'Erased the organisation',
  'org.limits': 'Changed the limits of the organisation',
  'service.on': 'Switched the service on',
  'service.off': 'Switched the service off',
  'results.export': 'Exported results',
  'report.download': 'Opened the report of a candidate as a PDF file',
  'report.share': 'Created a link to the report of a candidate',
  'report.revoke': 'Revoked a link to the report of a candidate',
  'audit.export': 'Exported the audit log',
  'audit.erase': 'Erased a personal value from the audit log',
  'responses.export': 'Exported responses to questions',
  'items.import': 'Imported questions',
  'items.export': 'Exported questions',
  'item.add': 'Added a question',
  'item.change': 'Changed a question',
  'item.retire': 'Retired a question',
  'question.exclude': 'Excluded a question from a mandate',
  'question.include': 'Included a question in a mandate again',
  'item.restore': 'Restored a question',
  'view.save': 'Saved a view',
  'view.delete': 'Deleted a view',
  'verification.resend': 'Sent a review email again',
  'verification.withdraw': 'Withdrew an endorsement',
  'skill_request.approve': 'Approved a skill request',
  'skill_request.reject': 'Rejected a skill request',
  'phone.reply': 'Answered on the simulator phone',
  'job.retry': 'Retried a job',
  'mail.suppress': 'Suppressed a mailbox',
  'mail.unsuppress': 'Allowed emails to a mailbox again',
  'catalogue.import': 'Imported skills',
  'skill.change': 'Changed a skill',
  'channel.set': 'Set up a channel',
  'channel.test': 'Sent a test message',
  'dnd-check.set': 'Set up the DND check',
  'dnd-check.remove': 'Removed the DND check',
  'spending.change': 'Changed prices or the daily cap',
  'channel.remove': 'Removed a channel',
  'ats.connect': 'Connected an applicant tracking system',
  'ats.disconnect': 'Disconnected an applicant tracking system',
  'ats.replay': 'Sent reports to an applicant tracking system again',
  'ats.simulate': 'Simulated an applicant tracking system',
  'master_key.rotate': 'Rotated the master key',
  'master_key.finish': 'Finished the rotation of the master key',
  'rings.list': 'Viewed the list of rings',
  'rings.view': 'Viewed a ring',
  'rings.note': 'Changed the note on a ring',
}

const NOUNS: Record<string, string> = {
  workflows: 'workflow',
  mandates: 'mandate',
  campaigns: 'campaign',
  webhooks: 'webhook endpoint',
  keys: 'key',
  events: 'events',
  'skill-requests': 'skill request',
  'test-clocks': 'test clock',
  credentials: 'credential',
  people: 'person',
}

/** Verbs of the last part of a path. */
const VERBS: Record<string, string> = {
  pause: 'Paused',
  resume: 'Resumed',
  retry: 'Prepared again:',
  candidates: 'Added candidates to',
  replay: 'Replayed events to',
  test: 'Sent a test event to',
  enable: 'Enabled',
  disable: 'Disabled',
  rotate: 'Rotated the secret of',
  'rotate-secret': 'Rotated the secret of',
  revoke: 'Revoked',
  'revoke-link': "Revoked a candidate's link in",
  advance: 'Advanced',
  ack: 'Acknowledged',
  erase: 'Erased',
  restrict: 'Restricted',
  unrestrict: 'Lifted the restriction of',
}

/** Returns a sentence without its subject, such as “Paused campaign”. */
export function auditSentence({ action, details }: Pick<AuditEntry, 'action' | 'details'>): string {
  const text = ACTION_TEXTS[action]
  if (action === 'operator.read') return `Viewed ${describeRoute(String((details as { route?: string }).route ?? ''))}`
  if (action === 'candidates.decide') return describeDecision(details as DecisionDetails)
  if (text) return text
  const [, method, path] = /^(POST|PUT|PATCH|DELETE) (\/.*)$/.exec(action) ?? []
  return method && path ? describeCall(method, path) : capitalise(action.replaceAll(/[._]/g, ' '))
}

interface DecisionDetails {
  count?: number
  decision?: string
  note?: string
}

/** Describes the decision or note on candidates, such as “Marked 3 candidates as shortlisted and changed the note”. */
function describeDecision({ count = 0, decision, note }: DecisionDetails): string {
  const candidates = count === 1 ? '1 candidate' : `${count.toLocaleString()} candidates`
  const noteText = note && `${note} the note`
  if (!decision) return capitalise(`${noteText ?? 'changed nothing'} on ${candidates}`)
  const decisionText =
    decision === 'none' ? `Removed the decision on ${candidates}` : `Marked ${candidates} as ${decision}`
  return noteText ? `${decisionText} and ${noteText}` : decisionText
}

/** Describes a call of the API, such as `POST /campaigns/:campaign_id/pause`. */
function describeCall(method: string, path: string): string {
  const parts = path.split('/').filter(Boolean)
  const names = parts.filter((part) => !part.startsWith(':'))
  const noun = NOUNS[names[0] ?? ''] ?? (names[0] ?? '').replaceAll('-', ' ')
  const last = names.at(-1)!
  if (names.length > 1) return `${VERBS[last] ?? capitalise(last.replaceAll('-', ' '))} ${noun}`
  if (method === 'DELETE') return `Archived ${noun}`
  return `${method === 'POST' && parts.length === 1 ? 'Created' : 'Changed'} ${noun}`
}

/** Describes the page that an operator viewed, from the path of its route. */
function describeRoute(route: string): string {
  const names = route.split('/').filter((part) => part && !part.startsWith(':'))
  if (names.length === 0) return 'the organisation'
  const isSingle = route.split('/').at(-1)?.startsWith(':')
  const noun = names.join(' ').replaceAll('-', ' ')
  return isSingle ? `one of the ${noun}` : noun
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Returns the details that a reader needs; the response status of a successful call is not one of them. */
export function shownDetails({ action, details }: Pick<AuditEntry, 'action' | 'details'>): [string, string][] {
  if (action === 'candidates.decide') return [] // part of the sentence
  return Object.entries(details as object)
    .filter(([name, value]) => name !== 'route' && !(name === 'status' && Number(value) < 400))
    .filter(([, value]) => value !== null && value !== undefined && !isEmptyObject(value))
    .map(([name, value]) => [name.replaceAll('_', ' '), describeValue(value)])
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(describeValue).join(', ')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .filter(([, each]) => each !== null && !(Array.isArray(each) && each.length === 0))
    .map(([name, each]) => `${name.replaceAll('_', ' ')} ${describeValue(each)}`)
    .join(', ')
}
