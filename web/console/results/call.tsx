import { useOrgContext } from '../shell/session.ts'

/** A phone number and email address, as links in live mode. Numbers in test mode are invented and may belong to someone. */
export function Call({ phone, email }: { phone: string | null; email?: string | null }) {
  const { mode } = useOrgContext()
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
