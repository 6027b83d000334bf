const ISO_DATE = /\b(\d{4})-(0[1-9]|1[0-2])(-(?:0[1-9]|[12]\d|3[01]))?\b/g

/** Replaces dates such as `2024-06` or `2024-06-30` in a text, as partners send them, by “June 2024” or “30 June 2024”. */
export function formatDatesIn(text: string, locale: string): string {
  return text.replace(ISO_DATE, (date: string, _year: string, _month: string, day: string | undefined) => {
    const time = Date.parse(date)
    if (Number.isNaN(time)) return date
    const options: Intl.DateTimeFormatOptions = { year: 'numeric', month: 'short', timeZone: 'UTC' }
    if (day) options.day = 'numeric'
    return new Date(time).toLocaleDateString(locale, options)
  })
}
