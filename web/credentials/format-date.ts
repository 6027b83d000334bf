/** Formats a date as the server does on the page of a credential: in UTC, in which dates are signed. */
export function formatDate(time: string): string {
  const { lang } = document.documentElement
  const locale = lang === 'en' ? 'en-GB' : `${lang}-IN-u-nu-latn`
  return new Date(time).toLocaleDateString(locale, { dateStyle: 'long', timeZone: 'UTC' })
}
