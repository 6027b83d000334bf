import pg from 'pg'

const parseWithPg = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => unknown

/** Length of `2030-01-31 09:00:00`. */
const SECONDS_LENGTH = 19

/**
 * Parses a timestamp in the format in which PostgreSQL sends it. UTC timestamps are parsed without regular expressions, three
 * times as fast as with `pg`. Other timestamps are passed to the parser of `pg`.
 */
export function parseStoredTimestamp(text: string): unknown {
  const zoneStart = text.length - 3
  if (zoneStart < SECONDS_LENGTH || text.charCodeAt(4) !== 45 || !text.endsWith('+00')) return parseWithPg(text)
  const year = 100 * twoDigits(text, 0) + twoDigits(text, 2)
  if (year < 100) return parseWithPg(text) // `Date.UTC` adds 1900 to these years
  let milliseconds = 0
  for (let index = SECONDS_LENGTH + 1, unit = 100; index < zoneStart; index++, unit /= 10)
    milliseconds += unit * digit(text, index)
  return new Date(
    Date.UTC(
      year,
      twoDigits(text, 5) - 1,
      twoDigits(text, 8),
      twoDigits(text, 11),
      twoDigits(text, 14),
      twoDigits(text, 17),
      Math.floor(milliseconds),
    ),
  )
}

function twoDigits(text: string, index: number): number {
  return 10 * digit(text, index) + digit(text, index + 1)
}

function digit(text: string, index: number): number {
  return text.charCodeAt(index) - 48
}
