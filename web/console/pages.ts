import type { FunctionComponent } from 'preact'
import type { Params } from './router.tsx'

export type Page = FunctionComponent<{ params: Params }>
type Load = () => Promise<{ default: Page }>

/** Every page of an organisation, below /console/{org}/{mode}; each is fetched when it is first opened. */
export const pages: Record<string, Load> = {
  '': () => import('./pages/start.tsx'),
  '/first-campaign': () => import('./pages/first-campaign.tsx'),
  '/workflows': () => import('./pages/workflows.tsx'),
  '/workflows/new': () => import('./pages/workflow-edit.tsx'),
  '/workflows/:workflow_id': () => import('./pages/workflow.tsx'),
  '/workflows/:workflow_id/edit': () => import('./pages/workflow-edit.tsx'),
  '/mandates': () => import('./pages/mandates.tsx'),
  '/mandates/new': () => import('./pages/mandate-edit.tsx'),
  '/mandates/:mandate_id': () => import('./pages/mandate.tsx'),
  '/mandates/:mandate_id/edit': () => import('./pages/mandate-edit.tsx'),
  '/campaigns': () => import('./pages/campaigns.tsx'),
  '/campaigns/new': () => import('./pages/campaign-new.tsx'),
  '/campaigns/:campaign_id': () => import('./pages/campaign.tsx'),
  '/candidates/:candidate_id': () => import('./pages/candidate.tsx'),
  '/results': () => import('./pages/results.tsx'),
  '/results/:result_id': () => import('./pages/result.tsx'),
  '/phone': () => import('./pages/phone.tsx'),
  '/phone/:candidate_id': () => import('./pages/phone.tsx'),
  '/analytics': () => import('./pages/analytics.tsx'),
  '/analytics/candidates': () => import('./pages/counted-candidates.tsx'),
  '/verifications': () => import('./pages/verifications.tsx'),
  '/verifications/:verification_id': () => import('./pages/verification.tsx'),
  '/keys': () => import('./pages/keys.tsx'),
  '/webhooks': () => import('./pages/webhooks.tsx'),
  '/webhooks/:webhook_id': () => import('./pages/webhook.tsx'),
  '/events': () => import('./pages/events.tsx'),
  '/requests': () => import('./pages/requests.tsx'),
  '/members': () => import('./pages/members.tsx'),
  '/audit': () => import('./pages/audit.tsx'),
}

/** Pages of the operator, below /console/operator. */
export const operatorPages: Record<string, Load> = {
  '': () => import('./pages/operator-now.tsx'),
  '/now': () => import('./pages/operator-now.tsx'),
  '/organisations': () => import('./pages/operator-organisations.tsx'),
  '/skills': () => import('./pages/operator-skills.tsx'),
  '/jobs': () => import('./pages/operator-jobs.tsx'),
  '/limits': () => import('./pages/operator-limits.tsx'),
  '/mails': () => import('./pages/operator-mails.tsx'),
  '/mails/:mail_id': () => import('./pages/operator-mail.tsx'),
  '/audit': () => import('./pages/operator-audit.tsx'),
}

export interface NavEntry {
  path: string
  name: string
  role: 'viewer' | 'recruiter' | 'owner'
}

export const navigation: { name: string; entries: NavEntry[] }[] = [
  {
    name: 'Verify',
    entries: [
      { path: '', name: 'Start', role: 'viewer' },
      { path: '/workflows', name: 'Workflows', role: 'viewer' },
      { path: '/mandates', name: 'Mandates', role: 'viewer' },
      { path: '/campaigns', name: 'Campaigns', role: 'viewer' },
      { path: '/results', name: 'Results', role: 'viewer' },
      { path: '/phone', name: 'Phone', role: 'viewer' },
      { path: '/analytics', name: 'Analytics', role: 'viewer' },
      { path: '/verifications', name: 'Sessions', role: 'viewer' },
    ],
  },
  {
    name: 'Integrate',
    entries: [
      { path: '/keys', name: 'Keys', role: 'owner' },
      { path: '/webhooks', name: 'Webhooks', role: 'viewer' },
      { path: '/events', name: 'Events', role: 'viewer' },
      { path: '/requests', name: 'Request log', role: 'viewer' },
      { path: '/members', name: 'People', role: 'viewer' },
      { path: '/audit', name: 'Audit', role: 'owner' },
    ],
  },
]

export const operatorNavigation: { path: string; name: string }[] = [
  { path: '/now', name: 'Now' },
  { path: '/organisations', name: 'Organisations' },
  { path: '/skills', name: 'Skills' },
  { path: '/jobs', name: 'Jobs' },
  { path: '/limits', name: 'Limits' },
  { path: '/mails', name: 'Mails' },
  { path: '/audit', name: 'Audit log' },
]
