const LONG_NUMBER = /\+?\d[\d ().-]{5,}\d/g
/** A status code of a mail server, such as `550 5.1.1`. */
const MAIL_STATUS = /\b(?:[245]\d\d[ -])?[245]\.\d{1,3}\.\d{1,3}\b/g
const MIN_PHONE_DIGITS = 7
const EMAIL_ADDRESS = /[^\s<>"']+@[^\s<>"']+/g

/** Removes phone numbers and email addresses, which providers repeat in their error messages. */
export function redactAddresses(text: string): string {
  return text
    .replace(EMAIL_ADDRESS, '…')
    .replace(LONG_NUMBER, (number) => (countDigits(number.replace(MAIL_STATUS, '')) < MIN_PHONE_DIGITS ? number : '…'))
}

function countDigits(text: string): number {
  return text.replace(/\D/g, '').length
}
