import { currentLanguage, t } from '../../translations/translate.ts'

/** Messages for empty required fields, by the last part of their API path. */
const REQUIRED_FIELD_MESSAGES: Record<string, string> = {
  title: t('Enter a job title'),
  company_name: t('Enter the name of the company'),
  name: t('Enter a name'),
  city: t('Enter a city'),
  text: t('Enter a question'),
  stem: t('Enter a question'),
  options: t('Enter an answer'),
  key: t('Enter a field name'),
  email: t('Enter an email address'),
  external_candidate_id: t('Enter an ID'),
}

/** The characters that a field accepts, by the last part of its API path. */
const ALLOWED_CHARACTERS: Record<string, string> = {
  external_candidate_id: t('use only letters, digits and . _ : -'),
  job_id: t('use only letters, digits and . _ : -'),
  key: t('use only letters, digits and . _ -'),
  pincode: t('enter six digits'),
}

const INVALID_FOLLOW_UP = t('Enter 1 to 168 hours')
const INVALID_PHONE = t('not a phone number; enter +91 and ten digits')
const INVALID_EMAIL = t('not an email address')

/** Rules that many fields have, with the text for their limit. In English, the messages of the API are shown. */
const RULES: [RegExp, (limit: string) => string][] = [
  [/^must (?:have at least 1 character|not be blank)/, () => t('Fill in this field')],
  [/^must have at least (\d+) characters/, (limit) => t('Enter at least {limit} characters', { limit })],
  [/^must have at most (\d+) characters?/, (limit) => t('Enter at most {limit} characters', { limit })],
  [/^must have at least (\d+) items?/, (limit) => t('At least {limit} are required', { limit })],
  [/^must have at most (\d+) items?/, (limit) => t('At most {limit} are possible', { limit })],
  [/^must be at least (\d+)/, (limit) => t('Enter {limit} or more', { limit })],
  [/^must be at most (\d+)/, (limit) => t('Enter {limit} or less', { limit })],
  [/^must not contain duplicate items/, () => t('The same value is entered twice')],
]

function translateRule(message: string): string {
  if (currentLanguage() === 'en') return message
  for (const [pattern, text] of RULES) {
    const match = pattern.exec(message)
    if (match) return text(match[1] ?? '')
  }
  return message
}

/** Rewrites a validation message of the API for people who do not know the API. */
export function explainError(path: string, message: string): string {
  const field = (path.split('.').at(-1) ?? '').replace(/\[\d+\]$/, '')
  if (/^must (have at least 1 character|not be blank)$/.test(message) && REQUIRED_FIELD_MESSAGES[field])
    return REQUIRED_FIELD_MESSAGES[field]
  if (field === 'after_hours') return INVALID_FOLLOW_UP
  if (field === 'phone' && /^must (match|be in E\.164)/.test(message)) return INVALID_PHONE
  if (!message.startsWith('must match')) return translateRule(message)
  return field === 'email' ? INVALID_EMAIL : (ALLOWED_CHARACTERS[field] ?? message)
}

/** Rewrites a warning of the API about a mandate. */
export function explainWarning(warning: string): string {
  if (warning.startsWith('data_enrichment is enabled'))
    return t('“Questions” is selected, but you have not written any questions.')
  const untranslated = /^Enrichment questions without a translation are asked in English: (.*)\. Send /.exec(
    warning,
  )?.[1]
  return untranslated
    ? t('Some of your questions lack a translation and are asked in English: {questions}.', {
        questions: untranslated,
      })
    : warning
}

/** Returns the message above a form: the number of invalid fields, or the error itself if it concerns no field. */
export function formErrorText({ message, details }: { message: string; details: { path: string }[] }): string {
  const fields = new Set(details.map(({ path }) => path)).size
  if (fields === 0) return message
  return fields === 1 ? t('Fix 1 field below.') : t('Fix {count} fields below.', { count: fields })
}
