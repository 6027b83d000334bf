import { useOrgContext } from '../shell/session.ts'

/** A phone number and email address, as links in live mode. Numbers in test mode are invented and may belong to someone. */
export function ContactLinks({ phone, email }: { phone: string | null; email?: string | null }) {
  const { mode } = useOrgContext()
  const phoneElement = phone && mode === 'live' ? <a href={`tel:${phone}`}>{phone}</a> : phone
  return (
    <>
      {phoneElement && <span class="whole">{phoneElement}</span>}
      {email && (
        <div class={phone ? 'soft small' : ''}>{mode === 'live' ? <a href={`mailto:${email}`}>{email}</a> : email}</div>
      )}
      {!phone && !email && '–'}
    </>
  )
}
