import { currentLanguage, t } from '../../translations/translate.ts'
import { explainError } from './explain-error.ts'

interface ErrorTexts {
  code: string
  message: string
  details: { path: string; message: string }[]
}

/**
 * Returns an error of the API in the user's language. In English, the message of the API is more specific than the texts by code, so it is
 * kept, with the names that the console uses.
 */
export function translateError<T extends ErrorTexts>(error: T): T {
  if (currentLanguage() === 'en') {
    const details = error.details.map(({ path, message }) => ({ path, message: consoleWords(message) }))
    return { ...error, details, message: consoleWords(error.message) }
  }
  const details = error.details.map(({ path, message }) => ({ path, message: explainError(path, message) }))
  return { ...error, details, message: messageText(error, details) }
}

function messageText({ code, message, details }: ErrorTexts, translatedDetails: ErrorTexts['details']): string {
  switch (code) {
    case 'VALIDATION_FAILED': {
      const [first, ...others] = translatedDetails
      if (others.length > 0) return t('Some values are not valid. Correct them and try again.')
      return first && first.message !== details[0]!.message ? first.message : withReason(message)
    }
    case 'NOT_FOUND':
      return t('This does not exist any more, or you have no access to it.')
    case 'RATE_LIMITED':
    case 'COOLDOWN':
      return t('Too many requests. Wait a moment, then try again.')
    case 'INSUFFICIENT_CREDITS':
      return t('Your organisation does not have enough credits. Ask the operator for more.')
    case 'SERVICE_DISABLED':
      return t(
        'The service is switched off for your organisation. Nothing was changed; until it is switched on, you can only read.',
      )
    case 'SERVICE_UNAVAILABLE':
      return t('The server is busy, or its database cannot be reached. Try again in a minute.')
    case 'SERVER_ERROR':
      return t('An error occurred on the server. Try again later.')
    case 'PAYLOAD_TOO_LARGE':
      return t('This is too large to be sent.')
    case 'WORKFLOW_IN_USE':
      return t('Jobs use this workflow. Archive them first.')
    case 'SECOND_FACTOR_REQUIRED':
      return t('Enter the code of your authenticator app, or a recovery code.')
    case 'RECENT_SIGN_IN_REQUIRED':
      return t('This requires a recent sign-in. Confirm it, or sign in again.')
    case 'UNAUTHORIZED':
      return t('The sign-in is not valid or has expired. Sign in again.')
    case 'UNEXPECTED':
      return message // a text of the console
    case 'FORBIDDEN':
      return t('This is not permitted. Message of the server: {message}', { message })
    default:
      return withReason(message)
  }
}

/** The console calls mandates jobs. Names of fields such as `mandate_id` stay unchanged. */
function consoleWords(message: string): string {
  return message.replace(/\b([Mm])andate(s?)\b/g, (_, first, plural) => `${first === 'M' ? 'Job' : 'job'}${plural}`)
}

/** Keeps the message of the API, because only it names the reason. */
function withReason(message: string): string {
  return t('This did not work. Message of the server: {message}', { message })
}
