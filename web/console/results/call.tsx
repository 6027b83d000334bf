import { usePlace } from '../shell/session.ts'

/** A number to call: one tap on a phone. In TEST it is only a number: made up, it may be a stranger's. */
export function Call({ phone, email }: { phone: string | null; email?: string | null }) {
  const { mode } = usePlace()
  const number = phone && mode === 'live' ? <a href={`tel:${phone}`}>{phone}</a> : phone
  return (
    <>
      {number && <span class="whole">{number}</span>}
      {email && (
        <div class={phone ? 'soft small' : ''}>{mode === 'live' ? <a href={`mailto:${email}`}>{email}</a> : email}</div>
      )}
      {!phone && !email && '–'}
    </>
  )
}
