const here = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const india = new Intl.DateTimeFormat('en-IN', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Kolkata' })

/** A moment in the reader's zone, with Indian time at hand. */
export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="soft">–</span>
  const date = new Date(at)
  return (
    <time dateTime={at} title={`${india.format(date)} IST`}>
      {here.format(date)}
    </time>
  )
}
