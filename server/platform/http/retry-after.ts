/** Returns the delay in milliseconds that a Retry-After header (seconds or an HTTP date) requests; undefined if it is absent or malformed. */
export function parseRetryAfter(header: string | string[] | undefined, now: number): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim()
  if (text === undefined) return undefined
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000
  // Date.parse also accepts other texts, such as "-5". An HTTP date starts with the name of the day.
  const date = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
