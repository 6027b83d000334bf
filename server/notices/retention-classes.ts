/** The classes of data that have a retention period. */
export const retentionClasses = ['conversations', 'answers', 'contact_data', 'mails', 'request_log', 'audit'] as const
export type RetentionClass = (typeof retentionClasses)[number]

interface ClassRule {
  defaultDays: number
  /** Bounds of the period, unless the operator sets others. */
  minDays: number
  maxDays: number
  description: string
}

export const RETENTION_RULES: Record<RetentionClass, ClassRule> = {
  conversations: {
    defaultDays: 180,
    minDays: 1,
    maxDays: 1095,
    description: 'Texts of the messages of candidates, after the end of the conversation.',
  },
  answers: {
    defaultDays: 365,
    minDays: 1,
    maxDays: 1095,
    description:
      'Free-text answers of candidates, after the end of the conversation. Verdicts and scores remain. Events have a copy for 30 days.',
  },
  contact_data: {
    defaultDays: 730,
    minDays: 30,
    maxDays: 2555,
    description: 'Names, phone numbers, email addresses and everything else about a person, after the last activity.',
  },
  mails: { defaultDays: 180, minDays: 7, maxDays: 1095, description: 'Emails to people, after they were created.' },
  request_log: { defaultDays: 3, minDays: 1, maxDays: 30, description: 'Log of API requests, after the request.' },
  audit: {
    defaultDays: 1095,
    minDays: 365,
    maxDays: 3650,
    description: 'Names, addresses and devices in the audit log, after the entry. The entries themselves remain.',
  },
}
