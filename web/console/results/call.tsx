import { useOrgContext } from '../shell/session.ts'

/** A phone number and email address; as links in LIVE mode only, because invented test numbers may belong to real people. */
export function ContactLinks({ phone, email }: { phone: string | null; email?: string | null }) {
  const { mode } = useOrgContext()
  const phoneElement = phone && mode === 'live' ? <a href={`tel:${phone}`}>{phone}</a> : phone
  return (
    <>
      {phoneElement && <span class="whole">{phoneElement}</span>}
      {email && (
        <div class={phone ? 'soft small' : ''} title={email}>
          {mode === 'live' ? <a href={`mailto:${email}`}>{email}</a> : email}
        </div>
      )}
      {!phone && !email && '–'}
    </>
  )
}
