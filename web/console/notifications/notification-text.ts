import type { ConsoleNotification } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { failureReason } from '../shared/failure-reasons.ts'

/** Returns the text of a notification in the language of the console. */
export function notificationText({ type, count: number, values, text }: ConsoleNotification): string {
  const isOne = number === 1
  const count = number.toLocaleString(displayLocale())
  switch (type) {
    case 'candidates_qualified':
      return t(isOne ? '1 candidate qualified in “{campaign}”' : '{count} candidates qualified in “{campaign}”', {
        ...values,
        count,
      })
    case 'candidates_undecided':
      return t(
        isOne ? '1 candidate is undecided in “{campaign}”' : '{count} candidates are undecided in “{campaign}”',
        { ...values, count },
      )
    case 'candidates_ended':
      return t(
        isOne
          ? '1 candidate ended without qualifying in “{campaign}”'
          : '{count} candidates ended without qualifying in “{campaign}”',
        { ...values, count },
      )
    case 'candidates_assigned':
      return t(isOne ? '1 candidate was assigned to you' : '{count} candidates were assigned to you', { count })
    case 'endpoint_failing':
      return t('All deliveries to the webhook endpoint {url} have failed for a day', values)
    case 'messages_failed':
      return failedMessagesText(values.channel!, failureReason(values.reason_code, values.reason!))
    case 'ats_report_failed':
      return t(
        isOne
          ? 'A report to {system} failed and will not be retried'
          : '{count} reports to {system} failed and will not be retried',
        { ...values, count },
      )
    case 'credits_low':
      return t('Credits are low: {balance} left', { balance: Number(values.balance).toLocaleString(displayLocale()) })
    case 'credits_exhausted':
      return t('No credits are left: candidates cannot be enrolled')
    case 'skill_request_approved':
      return values.skill
        ? t('The requested skill “{name}” is in the catalogue as “{skill}”', values)
        : t('The skill “{name}” was added to the catalogue', values)
    case 'skill_request_rejected':
      return values.reason
        ? t('The request for the skill “{name}” was rejected: {reason}', values)
        : t('The request for the skill “{name}” was rejected', values)
    default:
      return text // a type that was added after this page was loaded
  }
}

function failedMessagesText(channel: string, reason: string): string {
  switch (channel) {
    case 'whatsapp':
      return t('WhatsApp messages fail: {reason}', { reason })
    case 'voice':
      return t('Calls fail: {reason}', { reason })
    case 'sms':
      return t('SMS fail: {reason}', { reason })
    default:
      return t('Emails to candidates fail: {reason}', { reason })
  }
}
