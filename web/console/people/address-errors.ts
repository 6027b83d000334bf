import { t } from '../../translations/translate.ts'
import type { ApiError } from '../shell/api.ts'

const MESSAGES: Record<string, string> = {
  phone: t('Enter the phone number with country code, such as +919812345678.'),
  email: t('Enter an email address, such as asha@example.com.'),
}

/** Returns the error of a request field, in words for users who do not know the API. */
export function fieldErrorOf(error: ApiError | undefined, field: string): string | undefined {
  const detail = error?.details.find(({ path }) => path.split('.').at(-1) === field)
  return detail && (MESSAGES[field] ?? detail.message)
}

/** Returns a phone number without spaces, brackets and hyphens. */
export function compactPhone(phone: string): string {
  return phone.replaceAll(/[\s()-]/g, '')
}
