import { t } from '../../translations/translate.ts'

/** The reasons for failures of messages, as in data/message-errors/errors.json. */
const REASON_TEXTS: Record<string, string> = {
  no_account: t('The number or address cannot receive messages'),
  not_answered: t('The call was not answered, or the phone was busy'),
  unavailable: t('The phone was switched off, full or out of reach'),
  opted_out: t('The person has opted out'),
  too_many_marketing: t('WhatsApp withheld a marketing message from a person who gets many of them'),
  window_closed: t('More than 24 hours have passed since the last message of the person'),
  template: t('The template is missing, not approved, paused or different from the text'),
  entity: t('The DLT entity is not registered or not active'),
  telemarketer: t('Your entity is not linked to the SMS provider in the DLT portal'),
  header: t('The sender header is not registered or not active'),
  preference: t('The person has blocked such messages (DND), or their consent is missing'),
  hours: t('The mobile operator does not deliver such messages at this hour'),
  filtered: t('The mobile operator filtered the message as spam or because of its link or sender'),
  country: t('The provider cannot send such messages to this country'),
  account: t('The provider rejected the account or its credentials'),
  busy: t('The provider was overloaded or its rate limit was exceeded for too long'),
  other: t('Another error of the provider'),
}

/** Returns a reason in the user's language: by its code, or else the English text of the API. */
export function failureReason(code: string | undefined, englishText: string): string {
  return REASON_TEXTS[code ?? ''] ?? englishText
}

/** The advice about each reason, as in the same file. */
const REMEDY_TEXTS: Record<string, string> = {
  no_account: t(
    'Check the phone numbers or email addresses of your list. Add a second channel to the workflow for people who do not use this one.',
  ),
  not_answered: t('Follow up at another time of day or on another channel.'),
  unavailable: t('No action is needed: the next follow-up tries again. Use a second channel for urgent jobs.'),
  opted_out: t(
    'Do not contact this person again. If it happens often, check the basis of the contact and the text of the first message.',
  ),
  too_many_marketing: t(
    'Try again after a day or on another channel. For people who applied, have a template approved in the category utility.',
  ),
  window_closed: t(
    'No action is needed if a template is set up: Attestry sends it instead. Otherwise set up a template.',
  ),
  template: t(
    'Compare the registered text in Attestry with the one at the DLT portal or WhatsApp, and have it approved again.',
  ),
  entity: t('Check dlt_entity_id in the channel settings, and the status of your entity in the DLT portal.'),
  telemarketer: t('Approve the chain of telemarketers (PE-TM binding) of your SMS provider in the DLT portal.'),
  header: t('Check from in the channel settings, and the status of the header in the DLT portal.'),
  preference: t(
    'Contact only people who agreed, register the consent template in the DLT portal, or set up a DND check.',
  ),
  hours: t('Check the category of the channel and the hours in data/rules.'),
  filtered: t(
    'For SMS to India, use a registered header and template. Check that the host of PUBLIC_URL is on the whitelist.',
  ),
  country: t(
    'Run attestry channels check. For India, use Exotel or Gupshup for SMS, and Exotel for calls; for other countries, use Twilio.',
  ),
  account: t(
    'Check the credentials in the channel settings, the balance and the status of the account at the provider.',
  ),
  busy: t('Lower per_second in the channel settings, or ask the provider for a higher limit.'),
  other: t('Read the error in the contact record of a candidate, and look it up in the documentation of the provider.'),
}

/** Returns the advice about a reason in the language of the user: by its code, or else the English text of the API. */
export function failureRemedy(code: string | undefined, englishText: string): string {
  return REMEDY_TEXTS[code ?? ''] ?? englishText
}
