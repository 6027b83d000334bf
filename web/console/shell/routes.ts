import type { FunctionComponent } from 'preact'
import { t } from '../../translations/translate.ts'
import type { Params } from './router.tsx'

export type Page = FunctionComponent<{ params: Params }>
type LoadPage = () => Promise<{ default: Page }>

/** The pages of an organisation, below /console/{org}/{mode}. The code of a page is loaded when it is first opened. */
export const pages: Record<string, LoadPage> = {
  '': () => import('../start/start.tsx'),
  '/first-campaign': () => import('../start/first-campaign.tsx'),
  '/workflows': () => import('../workflows/workflows.tsx'),
  '/workflows/new': () => import('../workflows/workflow-edit.tsx'),
  '/workflows/:workflow_id': () => import('../workflows/workflow.tsx'),
  '/workflows/:workflow_id/edit': () => import('../workflows/workflow-edit.tsx'),
  '/mandates': () => import('../mandates/mandates.tsx'),
  '/mandates/new': () => import('../mandates/mandate-edit.tsx'),
  '/mandates/:mandate_id': () => import('../mandates/mandate.tsx'),
  '/mandates/:mandate_id/edit': () => import('../mandates/mandate-edit.tsx'),
  '/question-bank': () => import('../question-bank/question-bank.tsx'),
  '/campaigns': () => import('../campaigns/campaigns.tsx'),
  '/campaigns/new': () => import('../campaigns/campaign-new.tsx'),
  '/campaigns/:campaign_id': () => import('../campaigns/campaign.tsx'),
  '/candidates/:candidate_id': () => import('../results/candidate.tsx'),
  '/results': () => import('../results/results.tsx'),
  '/results/:result_id': () => import('../results/result.tsx'),
  '/phone': () => import('../phone/phone.tsx'),
  '/phone/:candidate_id': () => import('../phone/phone.tsx'),
  '/analytics': () => import('../analytics/analytics.tsx'),
  '/analytics/candidates': () => import('../results/counted-candidates.tsx'),
  '/questions': () => import('../questions/questions.tsx'),
  '/questions/:skill_id': () => import('../questions/skill.tsx'),
  '/questions/:skill_id/new': () => import('../questions/question-edit.tsx'),
  '/questions/:skill_id/:item_id': () => import('../questions/item.tsx'),
  '/questions/:skill_id/:item_id/edit': () => import('../questions/question-edit.tsx'),
  '/verifications': () => import('../verifications/verifications.tsx'),
  '/verifications/:verification_id': () => import('../verifications/verification.tsx'),
  '/credentials': () => import('../credentials/credentials.tsx'),
  '/keys': () => import('../keys/keys.tsx'),
  '/channels': () => import('../channels/channels.tsx'),
  '/integrations': () => import('../integrations/integrations.tsx'),
  '/integrations/:connection_id': () => import('../integrations/integration.tsx'),
  '/webhooks': () => import('../webhooks/webhooks.tsx'),
  '/webhooks/:webhook_id': () => import('../webhooks/webhook.tsx'),
  '/events': () => import('../webhooks/events.tsx'),
  '/requests': () => import('../request-log/request-log.tsx'),
  '/members': () => import('../members/members.tsx'),
  '/identity-provider': () => import('../identity-provider/identity-provider.tsx'),
  '/people': () => import('../people/people.tsx'),
  '/people/:person_id': () => import('../people/person.tsx'),
  '/branding': () => import('../branding/branding.tsx'),
  '/privacy': () => import('../privacy/privacy.tsx'),
  '/audit': () => import('../audit/audit.tsx'),
  '/notifications': () => import('../notifications/notifications.tsx'),
}

/** The operator's pages, below /console/operator. */
export const operatorPages: Record<string, LoadPage> = {
  '': () => import('../operator/status.tsx'),
  '/now': () => import('../operator/status.tsx'),
  '/organisations': () => import('../operator/organisations.tsx'),
  '/skills': () => import('../operator/skills.tsx'),
  '/skills/catalogue': () => import('../operator/catalogue.tsx'),
  '/skills/catalogue/:skill_id': () => import('../operator/catalogue-skill.tsx'),
  '/jobs': () => import('../operator/jobs.tsx'),
  '/limits': () => import('../operator/limits.tsx'),
  '/mails': () => import('../operator/emails.tsx'),
  '/mails/:mail_id': () => import('../operator/email.tsx'),
  '/suppressions': () => import('../operator/suppressions.tsx'),
  '/rings': () => import('../operator/rings.tsx'),
  '/rings/:ring_id': () => import('../operator/ring.tsx'),
  '/audit': () => import('../operator/audit.tsx'),
  '/operators': () => import('../operator/operators.tsx'),
  '/operators/identity-provider': () => import('../operator/identity-provider.tsx'),
  '/breach-list': () => import('../operator/breach-list.tsx'),
}

/** The pages of the user, at /console/account. */
export const accountPages: Record<string, LoadPage> = {
  '': () => import('../account/account.tsx'),
}

export interface NavEntry {
  path: string
  /** Paths of further pages of the entry, which it links to by tabs. */
  otherPaths?: string[]
  name: string
  role: 'viewer' | 'recruiter' | 'owner'
}

/** Returns whether a page belongs to an entry of the menu. */
export function isEntryOf({ path: entryPath, otherPaths = [] }: NavEntry, path: string): boolean {
  if (entryPath === '') return path === ''
  return [entryPath, ...otherPaths].some((each) => path === each || path.startsWith(`${each}/`))
}

export const navigation: { name: string; entries: NavEntry[] }[] = [
  {
    name: t('Verify'),
    entries: [
      { path: '', name: t('Start'), role: 'viewer' },
      { path: '/workflows', name: t('Workflows'), role: 'viewer' },
      { path: '/questions', otherPaths: ['/question-bank'], name: t('Questions'), role: 'viewer' },
      { path: '/mandates', name: t('Jobs'), role: 'viewer' },
      { path: '/campaigns', name: t('Campaigns'), role: 'viewer' },
      { path: '/results', name: t('Results'), role: 'viewer' },
      { path: '/phone', name: t('Simulator phone'), role: 'viewer' },
      { path: '/analytics', name: t('Analytics'), role: 'viewer' },
      { path: '/verifications', name: t('Verifications'), role: 'viewer' },
      { path: '/credentials', name: t('Credentials'), role: 'viewer' },
    ],
  },
  {
    name: t('Integrate'),
    entries: [
      { path: '/keys', name: t('Keys'), role: 'owner' },
      { path: '/channels', name: t('Channels'), role: 'viewer' },
      { path: '/integrations', name: t('Integrations'), role: 'viewer' },
      { path: '/webhooks', name: t('Webhooks'), role: 'viewer' },
      { path: '/events', name: t('Events'), role: 'viewer' },
      { path: '/requests', name: t('Request log'), role: 'viewer' },
    ],
  },
  {
    name: t('Organisation'),
    entries: [
      { path: '/members', otherPaths: ['/identity-provider'], name: t('Team'), role: 'viewer' },
      { path: '/people', name: t('People'), role: 'owner' },
      { path: '/branding', name: t('Branding'), role: 'viewer' },
      { path: '/privacy', name: t('Privacy'), role: 'viewer' },
      { path: '/audit', name: t('Audit'), role: 'owner' },
    ],
  },
]

export const operatorNavigation: { path: string; name: string }[] = [
  { path: '/now', name: t('Status') },
  { path: '/organisations', name: t('Organisations') },
  { path: '/jobs', name: t('Background jobs') },
  { path: '/skills', name: t('Skills') },
  { path: '/limits', name: t('Limits') },
  { path: '/mails', name: t('Emails') },
  { path: '/rings', name: t('Rings') },
  { path: '/operators', name: t('Operators') },
  { path: '/breach-list', name: t('Breach list') },
  { path: '/audit', name: t('Full audit log') },
]
